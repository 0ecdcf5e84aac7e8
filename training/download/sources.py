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
    other: str  # likewise; the same file means columns, English first, separated by tabs
    pairs: int | None = None  # how many there are, as published; None where it is not known


@dataclass(frozen=True, kw_only=True)
class Source:
    """One public set of English text with its translations, its licence, and what to cite."""

    name: str
    archives: tuple[Archive, ...]
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

# checksums: TensorFlow Datasets, url_checksums/wmt14_translate.txt and wmt15_translate.txt
_EUROPARL = Archive(
    url="https://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz",
    sha256="0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7",
)
_COMMON_CRAWL = Archive(
    url="https://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz",
    sha256="c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5",
)
_NEWS_COMMENTARY = Archive(
    url="https://www.statmt.org/wmt14/training-parallel-nc-v9.tgz",
    sha256="cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485",
)
_UNITED_NATIONS = Archive(
    url="https://www.statmt.org/wmt13/training-parallel-un.tgz",
    sha256="29141b5c1eba149a94f7a59d3b1a834b2e47fe0f8758d68dcd77a3d3f497ee47",
)
_GIGA = Archive(
    url="https://www.statmt.org/wmt10/training-giga-fren.tar",
    sha256="3ff8319f6919393520559bfbc7ad6a747ec81b3abc7be9993b338d4b017b4d9a",
)
# the newstests of all years up to 2018
_NEWSTESTS = Archive(
    url="https://data.statmt.org/wmt19/translation-task/dev.tgz",
    sha256="7a7deccf82ebb05ba508dba5eb21356492224e8f630ec4f992132b029b4b25e7",
)


def _wmt14(name: str, language: str, files: dict[Archive, str], licence: str) -> Source:
    """Return WMT 2014 in a language: training text by archive and file, with {} for its code."""
    # English is the translation in newstest2014 there: the same pairs the other way round
    newstest = f"dev/newstest2014-{language}en-{{}}.{{}}.sgm"
    return Source(
        name=name,
        language=language,
        archives=(*files, _NEWSTESTS),
        texts=(
            *(
                Text(
                    split="train",
                    english=f"{archive.name}/{file.format('en')}",
                    other=f"{archive.name}/{file.format(language)}",
                )
                for archive, file in files.items()
            ),
            Text(
                split="valid",
                english=f"{_NEWSTESTS.name}/dev/newstest2013.en",
                other=f"{_NEWSTESTS.name}/dev/newstest2013.{language}",
                pairs=3_000,
            ),
            Text(
                split="newstest2014",
                english=f"{_NEWSTESTS.name}/{newstest.format('ref', 'en')}",
                other=f"{_NEWSTESTS.name}/{newstest.format('src', language)}",
                pairs=3_003,
            ),
        ),
        licence=f"research use ({licence})",
        citation="Bojar et al. (2014). Findings of the 2014 Workshop on Statistical Machine "
        "Translation. Proceedings of the Ninth Workshop on Statistical Machine Translation, 12-58.",
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
        archives=(Archive(url="https://www.manythings.org/anki/deu-eng.zip"),),
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
        {
            _EUROPARL: "training/europarl-v7.de-en.{}",
            _COMMON_CRAWL: "commoncrawl.de-en.{}",
            _NEWS_COMMENTARY: "training/news-commentary-v9.de-en.{}",
        },
        "Europarl, Common Crawl, News Commentary, newstest",
    ),
    _wmt14(
        "wmt14-fr",
        "fr",
        {
            _EUROPARL: "training/europarl-v7.fr-en.{}",
            _COMMON_CRAWL: "commoncrawl.fr-en.{}",
            _UNITED_NATIONS: "un/undoc.2000.fr-en.{}",
            _NEWS_COMMENTARY: "training/news-commentary-v9.fr-en.{}",
            _GIGA: "giga-fren.release2.fixed.{}.gz",
        },
        "Europarl, Common Crawl, United Nations, News Commentary, 10⁹, newstest",
    ),
)
