"""Text files that readers bring: how they are decoded, and where their lines end."""

import bz2
import codecs
import gzip
import lzma
import re
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from training.data.corpus import read_lines
from transformer import HeadlightError, InputError
from transformer.cli import standard_input
from transformer.files.lines import decode_lines

TEXT = "Ä.\r\nb\u2028c\u0085d\x0be\rf\n\ng"
LINES = ["Ä.", "b\u2028c\u0085d\x0be f", "", "g"]


def typed(path: Path) -> list[str]:
    """The lines of a file on standard input."""
    with path.open("rb") as file, mock.patch("sys.stdin", SimpleNamespace(buffer=file)):
        return [*standard_input.lines(99)]


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_lines_are_those_of_training(tmp_path: Path, encoding: str, end: str) -> None:
    assert decode_lines((TEXT + end).encode(encoding), 4) == LINES
    path = tmp_path / "text"
    path.write_bytes((TEXT + end).encode("utf-8"))
    assert read_lines(path) == typed(path) == LINES


def test_texts_put_together_have_a_mark_at_each_beginning(tmp_path: Path) -> None:
    content = b"".join(codecs.BOM_UTF8 + text for text in (b"one\r\n", b"two\n", b"\n", b"a\n"))
    (tmp_path / "text").write_bytes(content)
    for lines in (
        decode_lines(content, 4),
        read_lines(tmp_path / "text"),
        typed(tmp_path / "text"),
    ):
        assert lines == ["one", "two", "", "a"]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b'<srcset setid="t">\nA man.\n</srcset>\n', "markup|SGML"),
        (codecs.BOM_UTF8 + b'\n <?xml version="1.0"?>\n<mteval>\n', "markup|SGML"),
        (gzip.compress(b"A man.\n", mtime=0), "packed"),
        (bz2.compress(b"A man.\n"), "packed"),
        (lzma.compress(b"A man.\n"), "packed"),
        (b"PK\x03\x04\x14\0", "packed"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "git lfs pull"),
    ],
)
def test_what_holds_no_lines_is_refused_by_its_kind(
    tmp_path: Path, content: bytes, named: str
) -> None:
    path = tmp_path / "a.en"
    path.write_bytes(content)
    for read in (
        lambda: decode_lines(content, 99),
        lambda: typed(path),
        lambda: read_lines(path),
    ):
        with pytest.raises(HeadlightError, match=named):
            read()


def test_an_empty_file_has_no_line_and_an_empty_line_is_one() -> None:
    assert decode_lines(b"", 0) == decode_lines(codecs.BOM_UTF8, 0) == []
    assert decode_lines(b"\n", 1) == [""]
    assert decode_lines(codecs.BOM_UTF16_BE + "a\r\nb".encode("utf-16-be"), 2) == ["a", "b"]


@pytest.mark.parametrize(
    ("data", "numbers"),
    [
        (b"a\r\nb\nc\xe4d", ["3", "0xE4", "8", "8"]),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ["3", "8"]),
        ("ab".encode("utf-32"), ["1", "8"]),
        (codecs.BOM_UTF16_LE + b"a\0\0\xd8b\0", ["5", "16", "8"]),
        (b"a\r\n" * 10_000 + b"b", ["10,001", "10,000"]),
    ],
)
def test_others_are_refused_in_one_sentence(data: bytes, numbers: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        decode_lines(data, 10_000)
    assert re.findall(r"0x\w+|\d[\d,]*", str(refused.value)) == numbers
    assert str(refused.value).endswith(".")
