"""Parallel text that belongs together is read whole; what does not is refused in one sentence."""

from pathlib import Path

import pytest

from tests.training.conftest import sentence_pairs, write_pairs
from training.data import corpus
from training.data.corpus import (
    CorpusError,
    ParallelText,
    encode,
    read_parallel,
    read_validation_text,
)
from transformer.text.tokenizer import Tokenizer


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


def test_what_is_too_long_or_empty_is_left_out_and_counted(data: Path) -> None:
    text = read_parallel(data / "train")
    tokenizer = Tokenizer.train(text.source + text.target, 120)
    odd = text + ParallelText(["", "The dog " * 50], ["Ein Hund.", "Der Hund."])
    encoded = encode(odd, tokenizer, max_pieces=40)
    assert (len(encoded), encoded.left_out) == (300, 2)
    assert list(encoded.lines) == list(range(300))
    assert tokenizer.decode(encoded.target[0]) == text.target[0]
    with pytest.raises(CorpusError, match="No sentence pair has between 1 and 1 pieces"):
        encode(text, tokenizer, max_pieces=2)


def test_a_text_is_encoded_alike_some_at_a_time(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = read_parallel(data / "train")
    tokenizer = Tokenizer.train(text.source + text.target, 120)
    whole = encode(text, tokenizer, max_pieces=40)
    monkeypatch.setattr(corpus, "CHUNK", 7)  # 300 is no multiple of it
    parts = encode(text, tokenizer, max_pieces=40)
    assert whole.source[:] == parts.source[:]
    assert whole.target[:] == parts.target[:]
    assert list(whole.lines) == list(parts.lines)
    assert len(whole) == 300
