"""A folder of text in any two languages, in whichever kind of file it holds them."""

import gzip
import lzma
import time
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
NAMED = (
    "id\tnl\tfr\tscore\n1\tEen hond.\tUn chien.\t.9\n2\tTwee katten en een.\tDeux chats & un.\t\n\n"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train.tsv", TSV.encode()),
        ("train.tsv", NAMED.encode()),
        ("train.tsv.gz", gzip.compress(TSV.replace("\n", "\r\n").encode(), mtime=0)),
        (
            "train.tsv",
            b'"Un chien."\t"Een hond."\n"Deux chats & un."\t"Twee katten en een."\n\n',
        ),
        (
            "train.csv",
            b'fr;nl;n\nUn chien.;"Een\nhond.";"1"\nDeux chats & un.;Twee katten en een.;2\n\n',
        ),
        ("train.csv.xz", lzma.compress(TSV.replace("\t", ",").encode())),
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
    ],
)
def test_a_file_that_is_not_what_its_ending_says_is_refused(
    tmp_path: Path, name: str, content: str, sentence: str
) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(CorpusError, match=sentence):
        text_folders.DataFolder(tmp_path, codes=FRENCH_DUTCH).read()


def test_one_of_several_texts_has_to_be_chosen(tmp_path: Path) -> None:
    for name in ("train.tsv", "train.csv.gz"):
        (tmp_path / name).write_text("a\tb\n")
    with pytest.raises(CorpusError, match=r"train\.tsv and .*train\.csv\.gz are both there"):
        text_folders.DataFolder(tmp_path).read()
    conftest.write_pairs(tmp_path / "train", conftest.sentence_pairs(5))
    assert len(text_folders.DataFolder(tmp_path).read()) == 5


@pytest.mark.parametrize(
    ("codes", "names"),
    [
        (text_folders.LanguageCodes("pt_BR", "pt-PT"), ["um", "dois"]),
        (text_folders.LanguageCodes("pt-PT", "zh"), ["dois", "san"]),
    ],
)
def test_a_region_that_is_asked_for_is_no_other(
    tmp_path: Path, codes: text_folders.LanguageCodes, names: list[str]
) -> None:
    (tmp_path / "train.tsv").write_text("pt-BR\tpt-PT\tzh-Hans\tpt-AO\num\tdois\tsan\ttres\n")
    text = text_folders.DataFolder(tmp_path, codes=codes).read()
    assert [*text.source, *text.target] == names


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


@pytest.mark.parametrize(
    "header",
    ["fr-CA\tnl_BE", "français\tNederlands", "fra\tnld", "text (French)\ttext (Dutch)",
     "source_fr\ttarget_nl"],
)  # fmt: skip
def test_a_first_line_names_the_columns_in_any_order(tmp_path: Path, header: str) -> None:
    path = tmp_path / "train.tsv"
    for names in (header.split("\t"), [*reversed(header.split("\t"))]):
        is_reversed = names != header.split("\t")
        rows = [names] + [
            [target, source] if is_reversed else [source, target]
            for source, target in zip(PAIRS.source, PAIRS.target, strict=True)
        ]
        for separator, name in (("\t", "train.tsv"), (",", "t.CSV"), (";", "t.csv")):
            path = tmp_path / name
            path.write_text("".join(f"{separator.join(row)}\n" for row in rows), "utf-8")
            assert text_folders.DataFolder(path, codes=FRENCH_DUTCH).read() == PAIRS


@pytest.mark.parametrize(
    "header",
    ["source\ttarget", "German\tEnglish", "fr\tde", "fr\tfr-CA\tde"],
)  # fmt: skip
def test_a_first_line_of_other_names_is_no_pair(tmp_path: Path, header: str) -> None:
    (tmp_path / "train.tsv").write_text(f"{header}\nEen hond.\tUn chien.\n", "utf-8")
    with pytest.raises(CorpusError, match=r"line 1 .* names of columns.* fr and nl"):
        text_folders.DataFolder(tmp_path, codes=FRENCH_DUTCH).read()


@pytest.mark.parametrize(
    ("content", "source"),
    [
        ('"He said ""hi"""\t"a"\n"a, b"\t"c"\n', ['He said "hi"', "a, b"]),
        ('"one\ntwo"\t"a"\nthree\tb\n', ["one two", "three"]),
        ('"One," he said.\ta\n"Two."\tb\n', ['"One," he said.', '"Two."']),
        ('"One.\t"a\nTwo."\tb"\n', ['"One.', 'Two."']),
        ('"One."\t"a"\nNo.\tb\n', ['"One."', "No."]),
        ('A 5" pipe.\ta\n', ['A 5" pipe.']),
    ],
)
def test_quotes_are_those_of_a_spreadsheet_or_of_the_text(
    tmp_path: Path, content: str, source: list[str]
) -> None:
    (tmp_path / "train.tsv").write_text(content, "utf-8")
    assert text_folders.DataFolder(tmp_path).read().source == source


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a,b\n" * 9 + '"c,d\n' + "e,f\n" * 90, 10),  # open to the end of the file
        ("a,b\n" * 9 + '"c,d\n' + 'e,"f"\n', 10),  # until another quote
        ('a,b\n"one\ntwo","c\nd,e\n', 3),  # in the second line of its row
        ('a,b\n5" pipe,c\nd,"one ""two""\nthree\n""four"", five\n', 3),
        ('a,b\nc,"d"e\n', 2),
        ('"a\nb",c\n"d\ne",f,g\n', 3),  # a row of three columns
    ],
)
def test_an_error_in_a_csv_names_the_line_where_it_begins(
    tmp_path: Path, content: str, line: int
) -> None:
    (tmp_path / "train.csv").write_text("x,y\n" + content)
    with pytest.raises(CorpusError, match=rf"train\.csv line {line + 1} "):
        text_folders.DataFolder(tmp_path).read()


@pytest.mark.slow
def test_line_feeds_in_cells_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text(('"' + "\n" * 99_000 + '"\tb\n') * 10)
    began = time.process_time()
    assert len(text_folders.DataFolder(tmp_path).read()) == 10
    assert time.process_time() - began < 5  # it took minutes


def test_what_iwslt_says_of_a_talk_is_no_pair(tmp_path: Path) -> None:
    lines = ["<url>http://x</url>", "<title>A talk</title>", "<b>No</b> tag.", "<title>", "Two."]
    for code in text_folders.LanguageCodes():
        (tmp_path / f"train.tags.de-en.{code}").write_text("\n".join(lines) + "\n")
    files = text_folders.DataFolder(tmp_path / "train.tags.de-en").files()
    expected = ["", "", *lines[2:]]
    assert corpus.read_pairs(files.chunks()) == ParallelText(expected, expected)


@pytest.mark.parametrize("name", ["a.zip", "a.xml.gz", "deu.txt", "a.tmx"])
def test_a_file_of_another_kind_is_refused_by_its_kind(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    kind = name.removesuffix(".gz").rpartition(".")[2].upper()
    with pytest.raises(CorpusError, match=rf"{name} is {kind}, from which no pairs are read"):
        text_folders.DataFolder(tmp_path / name).read()
