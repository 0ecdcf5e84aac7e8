"""Text is read whole and as it stands, or refused in one sentence that names what is wrong."""

import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.training import conftest
from training.data import corpus, text_folders
from training.data.corpus import (
    CorpusError,
    line_chunks,
    read_lines,
)
from transformer import errors
from transformer.cli import standard_input

texts = st.text(st.sampled_from("aß€😀 \n\r\u2028\x0b\ufeff"), max_size=40)


def cut_whole(text: str) -> list[str]:
    """The lines of a text that is there whole."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", " ")
    text = text.replace("\n\ufeff", "\n")
    return text.removesuffix("\n").split("\n") if text else []


@given(text=texts, block=st.integers(1, 9), size=st.integers(1, 5))
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lines_do_not_depend_on_the_blocks_they_are_read_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, block: int, size: int
) -> None:
    (tmp_path / "text").write_bytes(text.encode())
    monkeypatch.setattr(corpus, "BLOCK", block)
    monkeypatch.setattr(corpus, "CHUNK", size)
    chunks = list(line_chunks(tmp_path / "text"))
    assert [line for chunk in chunks for line in chunk] == cut_whole(text)
    assert [len(chunk) for chunk in chunks[:-1]] == [size] * len(chunks[:-1])
    assert all(chunks)


@pytest.mark.parametrize("block", [3, 1000])
def test_a_line_that_is_not_utf_8_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(corpus, "BLOCK", block)
    path = tmp_path / "z.en"
    path.write_bytes(b"ok\r\n\rok\nok\n" + "Grüße\nGrüße\n".encode("latin-1"))
    with pytest.raises(CorpusError, match=r"z\.en line 4 is not UTF-8: convert the file"):
        read_lines(path)
    path.write_bytes("eins\nzwei €".encode()[:-1])  # cut short within a character
    with pytest.raises(CorpusError, match=r"z\.en line 2 is not UTF-8"):
        read_lines(path)


@pytest.mark.parametrize(
    "content",
    ["<srcset>\n<seg>A</seg>", "\ufeff<?xml version='1.0'?>", "\n <DOC id=1>\n<seg>A</seg>"],
)
def test_markup_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.en").write_text(content)
    with pytest.raises(CorpusError, match=r"a\.en is SGML or XML: write each sentence"):
        read_lines(tmp_path / "a.en")


def test_a_line_with_a_tag_is_a_line(tmp_path: Path) -> None:
    lines = ["<doc id=1>", "A <seg> is a word.", "<html>", "<ref>"]
    for first in range(4):
        rotated = [*lines[first:], *lines[:first]]
        if first == 0:
            rotated.remove(lines[1])
        (tmp_path / "a.en").write_text("\n".join(rotated))
        assert read_lines(tmp_path / "a.en") == rotated


@pytest.mark.timeout(20)
def test_a_pipe_and_a_line_that_is_no_sentence_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match="pipe cannot be read: it is not a regular file"):
        read_lines(tmp_path / "pipe")
    path = tmp_path / "long"
    path.write_bytes(b"One.\n" + b"a" * 2_000_000 + b"\nThree.\n")
    with pytest.raises(CorpusError, match="long line 2 has more than 1,000,000 characters"):
        read_lines(path)


def test_different_lengths_are_refused_with_both_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conftest.write_pairs(tmp_path / "train", conftest.sentence_pairs(5))
    with (tmp_path / "train.de").open("a", encoding="utf-8") as file:
        file.write("Einer zu viel.\n")
    for size in (2, 50):  # lines that are held at one time
        monkeypatch.setattr(corpus, "CHUNK", size)
        with pytest.raises(CorpusError, match=r"train\.en has 5 lines and .*train\.de has 6"):
            text_folders.read_parallel(tmp_path / "train")


@pytest.mark.parametrize("block", [1, 1000])
@pytest.mark.parametrize(
    "content",
    [
        "A dog.\nA cat.\n".encode("utf-16"),
        "A dog.\nA cat.".encode("utf-16-le"),
        "我爱\n你".encode("utf-16-be"),
    ],
)
def test_utf_16_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, block: int
) -> None:
    monkeypatch.setattr(corpus, "BLOCK", block)
    (tmp_path / "z.en").write_bytes(content)
    with pytest.raises(CorpusError, match=r"z\.en is UTF-16"):
        read_lines(tmp_path / "z.en")
    with pytest.raises(errors.InputError, match=r"z\.en is UTF-16"):
        [*standard_input.file_lines(str(tmp_path / "z.en"), 99)]


@pytest.mark.parametrize(
    ("ending", "compress"),
    [
        (".gz", gzip.compress),
        (".xz", lzma.compress),
    ],
)
def test_a_packed_file_is_read_and_a_damaged_or_endless_one_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, compress: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / f"z.en{ending}"
    path.write_bytes(compress(b"One.\r\nTwo.\n"))
    assert read_lines(path) == ["One.", "Two."]
    for content in (b"One.\n", compress(b"One.\n" * 99)[:-9], compress(b"O")[:20] + b"x"):
        path.write_bytes(content)
        with pytest.raises(CorpusError, match=rf"z\.en{ending} is damaged, or not packed"):
            read_lines(path)
    path.write_bytes(compress(b"One.\n" * 10_000))
    monkeypatch.setattr(corpus, "BLOCK", 1_000)
    with pytest.raises(CorpusError, match="it has more than 2,000 bytes"):
        [*line_chunks(path, 2_000)]
