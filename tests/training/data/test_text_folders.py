"""A folder of text in any two languages, in whichever kind of file it holds them."""

from __future__ import annotations

import gzip
from argparse import ArgumentTypeError
from itertools import chain
from pathlib import Path

import pytest

from tests.training.conftest import sentence_pairs, write_pairs
from training.data import corpus
from training.data.corpus import CorpusError, ParallelText
from training.data.text_folders import (
    DataFolder,
    Endings,
    data_folder,
    read_parallel,
    read_validation_text,
)

FRENCH_DUTCH = Endings("fr", "nl")
PAIRS = ParallelText(
    ["Un chien.", "Deux chats & un.", ""], ["Een hond.", "Twee katten en een.", ""]
)
TMX = """<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"/><body>
<tu><prop>a</prop><tuv xml:lang="en"><seg>One dog.</seg></tuv>
 <tuv xml:lang="NL-BE"><note>b</note><seg>Een
   hond.</seg></tuv><tuv
 xml:lang="fr-FR"><seg>Un <bpt i="1">&lt;b></bpt>chien<ept i="1"/>.</seg></tuv>
 <tuv xml:lang="fr"><seg>Le chien.</seg></tuv></tu>
<tu><tuv lang="fra"><seg>Deux <hi>chats</hi> &amp; un.</seg></tuv>
 <tuv lang="nl"><seg>Twee katten en een.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Three.</seg></tuv><tuv xml:lang="de"><seg>Drei.</seg></tuv></tu>
</body></tmx>"""
TSV = "Un chien.\tEen hond.\nDeux chats & un.\tTwee katten en een.\n\n"
NAMED = (
    "id\tnl\tfr\tscore\n1\tEen hond.\tUn chien.\t.9\n2\tTwee katten en een.\tDeux chats & un.\t\n\n"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train.tsv", TSV.encode()),
        ("train.tsv", NAMED.encode()),
        ("train.tsv.gz", gzip.compress(TSV.replace("\n", "\r\n").encode(), mtime=0)),
        ("train.tmx", TMX.encode()),
        ("train.tmx", TMX.replace('version="1.0"', "version='1.0'").encode("utf-16")),
        ("train.tmx.gz", gzip.compress(TMX.encode(), mtime=0)),
    ],
)
@pytest.mark.parametrize("block", [1, 10_000])
def test_one_file_holds_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, block: int
) -> None:
    monkeypatch.setattr(corpus, "BLOCK", block)
    monkeypatch.setattr(corpus, "CHUNK", 2)
    (tmp_path / name).write_bytes(content)
    for path in (tmp_path, tmp_path / name):
        files = DataFolder(path, endings=FRENCH_DUTCH).files()
        chunks = [*files.chunks()]
        assert [len(chunk) for chunk in chunks] == [2, 1]
        assert corpus.read_pairs(chunks) == PAIRS
        assert [*chain(*files.side(0))] == PAIRS.source
        assert [*chain(*files.side(1))] == PAIRS.target


def test_two_files_may_be_packed_and_named_as_opus_does(tmp_path: Path) -> None:
    for side, lines in (("fr", PAIRS.source), ("nl", PAIRS.target)):
        text = "\n".join(lines).encode() + b"\n"
        (tmp_path / f"Books.fr-nl.{side}").write_bytes(text)
        (tmp_path / f"valid.{side}.gz").write_bytes(gzip.compress(text, mtime=0))
    folder = DataFolder(tmp_path / "Books.fr-nl", endings=FRENCH_DUTCH)
    assert folder.read() == PAIRS
    assert read_validation_text(folder.path, FRENCH_DUTCH) == PAIRS
    assert read_parallel(tmp_path / "valid", FRENCH_DUTCH) == PAIRS


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("train.tsv", "a\tb\nc\td\te\n", "line 2 has 3 column.s. and not 2"),
        ("train.tsv", "0.9\tUn chien.\tEen hond.\n", "line 1 has 3 column.s. and not 2"),
        ("train.tsv", "", "train.tsv is empty"),
        ("train.tmx", TMX.replace("fr", "es").replace("fra", "es"), "no unit in both fr and nl"),
        ("train.tmx", TMX[:-20], r"line 11 is no XML"),
        ("train.tmx", "", "is no XML"),
        (
            "train.tmx",
            '<!DOCTYPE tmx [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;&a;">]>' + TMX[63:],
            "line 1 has the entity a",
        ),
        ("train.tmx", TMX.replace("&amp;", "&eacute;"), "line 9 has the entity eacute"),
        ("train.tmx", '<!DOCTYPE t [<!ENTITY a SYSTEM "/etc/passwd">]><t>&a;</t>', "the entity a"),
    ],
)
def test_a_file_that_is_not_what_its_ending_says_is_refused(
    tmp_path: Path, name: str, content: str, sentence: str
) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(CorpusError, match=sentence):
        DataFolder(tmp_path, endings=FRENCH_DUTCH).read()


def test_one_of_several_texts_has_to_be_chosen(tmp_path: Path) -> None:
    for name in ("train.tsv", "train.tmx.gz"):
        (tmp_path / name).write_text("a\tb\n")
    with pytest.raises(CorpusError, match=r"train\.tsv and .*train\.tmx\.gz are both there"):
        DataFolder(tmp_path).read()
    write_pairs(tmp_path / "train", sentence_pairs(5))
    assert len(DataFolder(tmp_path).read()) == 5


@pytest.mark.parametrize(
    ("endings", "names"),
    [
        (Endings("pt_BR", "pt-PT"), ["um", "dois"]),
        (Endings("pt_PT", "pt_BR"), ["dois", "um"]),
        (Endings("por", "zh"), ["um", "san"]),
        (Endings("pt-PT", "zh"), ["dois", "san"]),
    ],
)
def test_a_region_that_is_asked_for_is_no_other(
    tmp_path: Path, endings: Endings, names: list[str]
) -> None:
    variants = {"pt-BR": "um", "pt-PT": "dois", "zh-Hans": "san", "pt-AO": "tres"}
    units = "".join(f'<tuv xml:lang="{k}"><seg>{v}</seg></tuv>' for k, v in variants.items())
    (tmp_path / "train.tmx").write_text(f"<tmx><tu>{units}</tu></tmx>")
    text = DataFolder(tmp_path, endings=endings).read()
    assert [*text.source, *text.target] == names


def test_validation_text_may_be_called_val_as_multi30k_does(tmp_path: Path) -> None:
    write_pairs(tmp_path / "val", sentence_pairs(3))
    assert len(read_validation_text(tmp_path)) == 3


def test_a_weight_stands_behind_a_colon(tmp_path: Path) -> None:
    assert data_folder("mix") == DataFolder(Path("mix"), 1)
    assert data_folder("a/mix:0.5") == DataFolder(Path("a/mix"), 0.5)
    assert data_folder("a:b:2") == DataFolder(Path("a:b"), 2)
    odd = tmp_path / "mix:3"
    odd.mkdir()
    assert data_folder(str(odd)) == DataFolder(odd, 1)
    assert data_folder(f"{odd}:4") == DataFolder(odd, 4)


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf", "1e9", "half", ""])
def test_a_weight_that_cannot_be_meant_is_refused(weight: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"weight of 'mix' must be a number above 0"):
        data_folder(f"mix:{weight}")
