"""Sources of public parallel text: addresses, published checksums, licences."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Archive:
    """One file to download, with its SHA-256 where one has been published."""

    url: str
    sha256: str | None = None

    @property
    def name(self) -> str:
        """File name on disk."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class Text:
    """A parallel text inside archives."""

    split: str  # `train` becomes `train.en` and `train.de`; texts of one split follow each other
    english: str  # an archive, and behind a slash the file inside it
    german: str  # likewise; the same file means columns, English first, parted by tabs
    pairs: int | None = None  # how many there are, as published; None where it is not known


@dataclass(frozen=True, kw_only=True)
class Source:
    """One public set of English-German text, its licence, and what to cite."""

    name: str
    archives: tuple[Archive, ...]
    texts: tuple[Text, ...]
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

# checksums: TensorFlow Datasets, url_checksums/wmt14_translate.txt
_WMT14 = (
    Archive(
        url="https://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz",
        sha256="0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7",
    ),
    Archive(
        url="https://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz",
        sha256="c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5",
    ),
    Archive(
        url="https://www.statmt.org/wmt14/training-parallel-nc-v9.tgz",
        sha256="cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485",
    ),
    # the newstests of all years up to 2018
    Archive(
        url="https://data.statmt.org/wmt19/translation-task/dev.tgz",
        sha256="7a7deccf82ebb05ba508dba5eb21356492224e8f630ec4f992132b029b4b25e7",
    ),
)

SOURCES = (
    Source(
        name="multi30k",
        archives=tuple(
            Archive(url=f"{_MULTI30K}/{name}.{language}.gz")
            for name, _ in _MULTI30K_SPLITS.values()
            for language in ("en", "de")
        ),
        texts=tuple(
            Text(split=split, english=f"{name}.en.gz", german=f"{name}.de.gz", pairs=pairs)
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
        archives=(Archive(url="https://www.manythings.org/anki/deu-eng.zip"),),
        texts=(Text(split="train", english="deu-eng.zip/deu.txt", german="deu-eng.zip/deu.txt"),),
        held_out=1_500,
        licence="CC BY 2.0 (France); name tatoeba.org and manythings.org/anki, and the authors in "
        "the third column of the archive",
        citation="Tatoeba, https://tatoeba.org, in the selection of "
        "https://www.manythings.org/anki.",
    ),
    Source(
        name="wmt14",
        archives=_WMT14,
        texts=(
            *(
                Text(split="train", english=f"{text}.en", german=f"{text}.de")
                for text in (
                    "training-parallel-europarl-v7.tgz/training/europarl-v7.de-en",
                    "training-parallel-commoncrawl.tgz/commoncrawl.de-en",
                    "training-parallel-nc-v9.tgz/training/news-commentary-v9.de-en",
                )
            ),
            Text(
                split="valid",
                english="dev.tgz/dev/newstest2013.en",
                german="dev.tgz/dev/newstest2013.de",
                pairs=3_000,
            ),
            # German to English there: the same pairs the other way round
            Text(
                split="newstest2014",
                english="dev.tgz/dev/newstest2014-deen-ref.en.sgm",
                german="dev.tgz/dev/newstest2014-deen-src.de.sgm",
                pairs=3_003,
            ),
        ),
        licence="research use (Europarl, Common Crawl, News Commentary, newstest)",
        citation="Bojar et al. (2014). Findings of the 2014 Workshop on Statistical Machine "
        "Translation. Proceedings of the Ninth Workshop on Statistical Machine Translation, 12-58.",
    ),
)
