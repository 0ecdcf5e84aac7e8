"""Lines come out as they stand in the file, whatever size it is read in; what is none is named."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from training.data import lines
from training.data.lines import CorpusError, line_chunks, read_lines

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
    monkeypatch.setattr(lines, "BLOCK", block)
    chunks = list(line_chunks(tmp_path / "text", size))
    assert [line for chunk in chunks for line in chunk] == cut_whole(text)
    assert [len(chunk) for chunk in chunks[:-1]] == [size] * len(chunks[:-1])
    assert all(chunks)


@pytest.mark.parametrize("block", [3, 1000])
def test_a_line_that_is_not_utf_8_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(lines, "BLOCK", block)
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
    monkeypatch.setattr(lines, "BLOCK", 1_000_000)
    path.write_bytes(b"One.\n" + "€".encode() * 3_000_000)
    read: list[int] = []
    cut = lines._cut

    def counted(block: bytes, *rest: object) -> list[str]:
        read.append(len(block))
        return cut(block, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(lines, "_cut", counted)
    with pytest.raises(CorpusError, match="long line 2 has more than 1,000,000 characters"):
        read_lines(path)
    assert sum(read) < 6_000_000
