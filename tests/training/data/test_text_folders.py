"""A folder of text in any two languages, in whichever kind of file it holds them."""

import gzip
import lzma
from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from tests.training import conftest
from training.data import corpus, text_folders
from training.data.corpus import CorpusError, ParallelText

FRENCH_DUTCH = text_folders.LanguageCodes("fr", "nl")
PAIRS = ParallelText(
    ["Un chien.", "Deux chats & un.", ""], ["Een hond.", "Twee katten en een.", ""]
)
TSV = "Un chien.\tEen hond.\nDeux chats & un.\tTwee katten en een.\n\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train.tsv", TSV.encode()),
        ("train.tsv.gz", gzip.compress(TSV.replace("\n", "\r\n").encode(), mtime=0)),
        ("train.tsv.xz", lzma.compress(TSV.encode())),
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
        files = text_folders.DataFolder(path, codes=FRENCH_DUTCH).files()
        chunks = [*files.chunks()]
        assert [len(chunk) for chunk in chunks] == [2, 1]
        assert corpus.read_pairs(chunks) == PAIRS


def test_two_files_may_be_packed_and_named_as_opus_does(tmp_path: Path) -> None:
    for side, lines in (("fr", PAIRS.source), ("nl", PAIRS.target)):
        text = "\n".join(lines).encode() + b"\n"
        (tmp_path / f"Books.fr-nl.{side}").write_bytes(text)
        (tmp_path / f"valid.{side}.gz").write_bytes(gzip.compress(text, mtime=0))
    folder = text_folders.DataFolder(tmp_path / "Books.fr-nl", codes=FRENCH_DUTCH)
    assert folder.read() == PAIRS
    assert text_folders.read_validation_text(folder.path, FRENCH_DUTCH) == PAIRS
    assert text_folders.read_parallel(tmp_path / "valid", FRENCH_DUTCH) == PAIRS


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("train.tsv", "a\tb\nc\td\te\n", "line 2 has 3 column.s. and not 2"),
        ("train.tsv", "0.9\tUn chien.\tEen hond.\n", "line 1 has 3 column.s. and not 2"),
        ("train.tsv", "", "train.tsv is empty"),
        ("train.tsv", "fr\tnl\na\tb\n", "line 1 names columns"),
        ("train.tsv", "French\tDutch\na\tb\n", "line 1 names columns"),
        ("train.tsv", "Source\ttarget\na\tb\n", "line 1 names columns"),
        ("train.tsv", 'a\tb\n"He said ""hi"""\t"c"\n', "line 2 has the quotes of a spreadsheet"),
        ("train.tsv", 'a\tb\n"one\ntwo"\tc\n', "line 2 has 1 column.s. and not 2"),
    ],
)
def test_a_file_that_is_not_what_its_ending_says_is_refused(
    tmp_path: Path, name: str, content: str, sentence: str
) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(CorpusError, match=sentence):
        text_folders.DataFolder(tmp_path, codes=FRENCH_DUTCH).read()


def test_a_weight_stands_behind_a_colon(tmp_path: Path) -> None:
    assert text_folders.data_folder("mix") == text_folders.DataFolder(Path("mix"), 1)
    assert text_folders.data_folder("a/mix:0.5") == text_folders.DataFolder(Path("a/mix"), 0.5)
    assert text_folders.data_folder("a:b:2") == text_folders.DataFolder(Path("a:b"), 2)
    odd = tmp_path / "mix:3"
    odd.mkdir()
    assert text_folders.data_folder(str(odd)) == text_folders.DataFolder(odd, 1)
    assert text_folders.data_folder(f"{odd}:4") == text_folders.DataFolder(odd, 4)


@pytest.mark.parametrize("weight", ["0", "nan", "half"])
def test_a_weight_that_cannot_be_meant_is_refused(weight: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"weight of 'mix' must be a number above 0"):
        text_folders.data_folder(f"mix:{weight}")


def test_quotes_are_those_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text('"One," he said.\ta\n"Two."\t"b"\nA 5" pipe.\ta, b\n')
    text = text_folders.DataFolder(tmp_path).read()
    assert text.source == ['"One," he said.', '"Two."', 'A 5" pipe.']
    assert text.target == ["a", '"b"', "a, b"]


def test_a_csv_in_the_place_of_a_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.csv.gz").write_text("a,b\n")
    with pytest.raises(CorpusError, match=r"train\.csv\.gz is CSV, from which no pairs are read"):
        text_folders.DataFolder(tmp_path).read()
    conftest.write_pairs(tmp_path / "train", conftest.sentence_pairs(5))
    assert len(text_folders.DataFolder(tmp_path).read()) == 5


@pytest.mark.parametrize("name", ["a.zip", "a.xml.gz", "deu.txt", "a.tmx", "t.CSV"])
def test_a_file_of_another_kind_is_refused_by_its_kind(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    kind = name.removesuffix(".gz").rpartition(".")[2].upper()
    with pytest.raises(CorpusError, match=rf"{name} is {kind}, from which no pairs are read"):
        text_folders.DataFolder(tmp_path / name).read()
