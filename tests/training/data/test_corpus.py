"""Text is read whole and as it stands, or refused in one sentence that names what is wrong."""

import os
from argparse import ArgumentTypeError
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.training.conftest import sentence_pairs, write_pairs
from training.data import corpus
from training.data.corpus import (
    CorpusError,
    DataFolder,
    data_folder,
    line_chunks,
    read_lines,
    read_parallel,
    read_validation_text,
)

texts = st.text(st.sampled_from("aß€😀 \n\r\u2028\x0b\ufeff"), max_size=40)


def cut_whole(text: str) -> list[str]:
    """The lines of a text that is there whole."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return text.removesuffix("\n").split("\n") if text else []


@given(text=texts, block=st.integers(1, 9), size=st.integers(1, 5))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    path.write_bytes(b"ok\r\n\rok\n" + "Grüße\nGrüße\n".encode("latin-1"))
    with pytest.raises(CorpusError, match=r"z\.en line 4 is not UTF-8: convert the file"):
        read_lines(path)
    path.write_bytes("eins\nzwei €".encode()[:-1])  # cut short within a character
    with pytest.raises(CorpusError, match=r"z\.en line 2 is not UTF-8"):
        read_lines(path)


@pytest.mark.timeout(20)
def test_a_pipe_and_a_line_that_is_no_sentence_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match="pipe cannot be read: it is no regular file"):
        read_lines(tmp_path / "pipe")
    path = tmp_path / "long"
    path.write_bytes(b"One.\n" + bytes(2_000_000) + b"\nThree.\n")
    with pytest.raises(CorpusError, match="long line 2 has more than 1,000,000 characters"):
        read_lines(path)
    # no more of it is read than that
    monkeypatch.setattr(corpus, "BLOCK", 1_000_000)
    path.write_bytes(b"One.\n" + "€".encode() * 3_000_000)
    read: list[int] = []
    cut = corpus._cut

    def counted(block: bytes, *rest: object) -> list[str]:
        read.append(len(block))
        return cut(block, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(corpus, "_cut", counted)
    with pytest.raises(CorpusError, match="long line 2 has more than 1,000,000 characters"):
        read_lines(path)
    assert sum(read) < 6_000_000


def test_different_lengths_are_refused_with_both_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pairs(tmp_path / "train", sentence_pairs(5))
    with (tmp_path / "train.de").open("a", encoding="utf-8") as file:
        file.write("Einer zu viel.\n")
    for size in (1, 2, 5, 50):  # lines that are held at one time
        monkeypatch.setattr(corpus, "CHUNK", size)
        with pytest.raises(CorpusError, match=r"train\.en has 5 lines and .*train\.de has 6"):
            read_parallel(tmp_path / "train")


def test_a_missing_file_and_an_empty_one_are_each_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"x\.en cannot be read: No such file"):
        read_parallel(tmp_path / "x")
    for language in ("en", "de"):
        (tmp_path / f"y.{language}").write_text("")
    with pytest.raises(CorpusError, match=r"y\.en is empty"):
        read_parallel(tmp_path / "y")


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
