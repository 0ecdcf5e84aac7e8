"""Sources of public parallel text: addresses, published checksums, licences."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Text:
    """A parallel text inside archives."""

    split: str  # `train` becomes `train.en` and `train.de`; texts of one split follow each other
    english: str  # an archive, and behind a slash the file inside it
    other: str  # likewise; the same file means columns, English first, separated by tabs
    pairs: int | None = None  # how many there are, as published; None where it is not known


@dataclass(frozen=True, kw_only=True)
class Source:
    """One public set of English text with its translations, its licence, and what to cite."""

    name: str
    archives: Mapping[str, str | None]  # address: SHA-256, where one has been published
    texts: tuple[Text, ...]
    language: str = "de"  # of the other side
    held_out: int = 0
    licence: str
    citation: str


_MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
# split: name there, pairs as its README counts them
_MULTI30K_SPLITS = {
    "train": ("train", 29_000),
    "valid": ("val", 1_014),
    "test_2016_flickr": ("test_2016_flickr", 1_000),
}

# of TensorFlow Datasets, url_checksums/wmt14_translate.txt and wmt15_translate.txt
_WMT = {
    "https://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz": (
        "0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7"
    ),
    "https://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz": (
        "c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5"
    ),
    "https://www.statmt.org/wmt13/training-parallel-un.tgz": (
        "29141b5c1eba149a94f7a59d3b1a834b2e47fe0f8758d68dcd77a3d3f497ee47"
    ),
    "https://www.statmt.org/wmt14/training-parallel-nc-v9.tgz": (
        "cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485"
    ),
    "https://www.statmt.org/wmt10/training-giga-fren.tar": (
        "3ff8319f6919393520559bfbc7ad6a747ec81b3abc7be9993b338d4b017b4d9a"
    ),
    # the newstests of all years up to 2018
    "https://data.statmt.org/wmt19/translation-task/dev.tgz": (
        "7a7deccf82ebb05ba508dba5eb21356492224e8f630ec4f992132b029b4b25e7"
    ),
}


def _wmt14(name: str, language: str, train: list[str], corpora: str) -> Source:
    """Return WMT 2014 in a language; `train` has archive/file, with {} for the file's language."""
    sides = [(file.format("en"), file.format(language)) for file in train]
    names = {english.partition("/")[0] for english, _ in sides} | {"dev.tgz"}
    return Source(
        name=name,
        language=language,
        archives={url: sha256 for url, sha256 in _WMT.items() if url.rpartition("/")[2] in names},
        texts=(
            *(Text(split="train", english=english, other=other) for english, other in sides),
            Text(
                split="valid",
                english="dev.tgz/dev/newstest2013.en",
                other=f"dev.tgz/dev/newstest2013.{language}",
                pairs=3_000,
            ),
        ),
        licence=f"research use ({corpora}, newstest)",
        citation="Bojar et al. (2014). Findings of the 2014 Workshop on Statistical Machine "
        "Translation. Proceedings of the Ninth Workshop on Statistical Machine Translation, 12-58.",
    )


SOURCES = (
    Source(
        name="multi30k",
        archives={
            f"{_MULTI30K}/{name}.{language}.gz": None
            for name, _ in _MULTI30K_SPLITS.values()
            for language in ("en", "de")
        },
        texts=tuple(
            Text(split=split, english=f"{name}.en.gz", other=f"{name}.de.gz", pairs=pairs)
            for split, (name, pairs) in _MULTI30K_SPLITS.items()
        ),
        licence="none stated for the text; the images it describes: non-commercial research and "
        "education",
        citation="Elliott, Frank, Sima'an and Specia (2016). Multi30K: Multilingual "
        "English-German Image Descriptions. Proceedings of the 5th Workshop on Vision and "
        "Language, 70-74.",
    ),
    Source(
        name="tatoeba",
        archives={"https://www.manythings.org/anki/deu-eng.zip": None},
        texts=(Text(split="train", english="deu-eng.zip/deu.txt", other="deu-eng.zip/deu.txt"),),
        held_out=1_500,
        licence="CC BY 2.0 (France); name tatoeba.org and manythings.org/anki, and the authors in "
        "the third column of the archive",
        citation="Tatoeba, https://tatoeba.org, in the selection of "
        "https://www.manythings.org/anki.",
    ),
    _wmt14(
        "wmt14",
        "de",
        [
            "training-parallel-europarl-v7.tgz/training/europarl-v7.de-en.{}",
            "training-parallel-commoncrawl.tgz/commoncrawl.de-en.{}",
            "training-parallel-nc-v9.tgz/training/news-commentary-v9.de-en.{}",
        ],
        "Europarl, Common Crawl, News Commentary",
    ),
    _wmt14(
        "wmt14-fr",
        "fr",
        [
            "training-parallel-europarl-v7.tgz/training/europarl-v7.fr-en.{}",
            "training-parallel-commoncrawl.tgz/commoncrawl.fr-en.{}",
            "training-parallel-un.tgz/un/undoc.2000.fr-en.{}",
            "training-parallel-nc-v9.tgz/training/news-commentary-v9.fr-en.{}",
            "training-giga-fren.tar/giga-fren.release2.fixed.{}.gz",
        ],
        "Europarl, Common Crawl, United Nations, News Commentary, 10⁹",
    ),
)
