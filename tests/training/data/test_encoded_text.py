"""Encoded text is the text that went in, in memory, from files and from several folders."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.training import conftest
from training.data import batches, encoded_text, prepared, run_data
from training.data.corpus import CorpusError, ParallelText
from training.data.encoded_text import (
    NAMES,
    EncodedFiles,
    EncodedText,
    Part,
    Sentences,
    TrainingText,
    arrays,
    checksums,
    encode,
    mapped_text,
)
from training.data.text_folders import DataFolder
from transformer.text.tokenizer import Tokenizer

TEXT = ParallelText(*(list(side) for side in zip(*conftest.sentence_pairs(300), strict=True)))
WEIGHTS = (1.0, 0.3, 2.75, 0.001)
SIZES = (5, 101, 40, 30)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(TEXT.source + TEXT.target, 150)


lists = st.lists(st.lists(st.integers(0, 40_000), max_size=9), max_size=9)


@given(lists)
def test_sentences_end_to_end_are_the_sentences_that_went_in(sentences: list[list[int]]) -> None:
    held = Sentences(sentences)
    assert [held[row] for row in range(len(held))] == sentences == held[:]
    assert held.lengths().tolist() == [len(ids) for ids in sentences]
    assert held[1:-1] == sentences[1:-1]
    if sentences:
        assert held[-1] == sentences[-1]


@given(lists, st.data())
def test_rows_are_taken_as_from_a_list(sentences: list[list[int]], data: st.DataObject) -> None:
    lengths = np.array([len(ids) for ids in sentences], np.int64)
    flat = np.array([i for ids in sentences for i in ids], np.uint16)
    held = Sentences.from_arrays(flat, lengths)
    assert held[:] == sentences
    row = st.integers(0, max(0, len(sentences) - 1))
    rows = data.draw(st.lists(row, max_size=9)) if sentences else []
    taken = held.take(np.array(rows, np.int64))
    assert taken[:] == [sentences[row] for row in rows]
    assert taken.stored.dtype == np.uint16


def test_pairs_that_are_too_long_or_empty_are_left_out_and_counted(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = ParallelText([*TEXT.source, "", "The dog " * 50], [*TEXT.target, "Ein Hund.", "Der."])
    encoded = encode(odd, tokenizer, max_pieces=40)
    assert (len(encoded), encoded.left_out) == (300, 2)
    assert list(encoded.lines) == list(range(300))
    assert tokenizer.decode(encoded.target[0]) == TEXT.target[0]
    with pytest.raises(CorpusError, match="No sentence pair has between 1 and 1 pieces"):
        encode(TEXT, tokenizer, max_pieces=2)
    monkeypatch.setattr(encoded_text, "CHUNK", 7)  # 302 is not a multiple of it
    parts = encode(odd, tokenizer, max_pieces=40)
    assert checksums(parts) == checksums(encoded)


pairs = st.tuples(*[st.lists(st.integers(0, 2**16 - 1), min_size=1, max_size=5)] * 2)


def _encoded(pairs: list[tuple[list[int], list[int]]], dtype: type, first: int = 0) -> EncodedText:
    sides = [[pair[side] for pair in pairs] for side in range(2)]
    source, target = (
        Sentences.from_arrays(
            np.array([i for ids in side for i in ids], dtype), np.array([len(ids) for ids in side])
        )
        for side in sides
    )
    return EncodedText(source, target, 3 * np.arange(first, first + len(pairs)))


@given(
    chunks=st.lists(st.lists(pairs, max_size=4), min_size=1, max_size=5).filter(any),
    dtype=st.sampled_from([np.uint16, np.int32]),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_chunks_that_are_written_are_the_text_and_its_checksums_those_of_the_files(
    tmp_path: Path, chunks: list, dtype: type
) -> None:
    whole = _encoded([pair for chunk in chunks for pair in chunk], dtype)
    with ExitStack() as stack:
        paths = {name: tmp_path / name for name in NAMES}
        files = {name: stack.enter_context(path.open("w+b")) for name, path in paths.items()}
        written, first = EncodedFiles(files, dtype), 0
        for chunk in chunks:
            written.append(_encoded(chunk, dtype, first))
            first += len(chunk)
    mapped = mapped_text(tmp_path, dtype, left_out=7)
    assert mapped.left_out == 7
    for name, array in arrays(mapped).items():
        assert array.tolist() == arrays(whole)[name].tolist()
        assert array.dtype == arrays(whole)[name].dtype
    sha256 = {name: r["sha256"] for name, r in prepared.record_files(tmp_path, NAMES).items()}
    assert checksums(whole) == checksums(mapped) == sha256


def _text(*parts: Part) -> TrainingText:
    rows = sum(part.rows for part in parts)
    sentences = Sentences([[row % 7 + 4] for row in range(rows)])
    return TrainingText(EncodedText(sentences, sentences, range(rows)), parts)


def _how_often(text: TrainingText, epochs: int) -> np.ndarray:
    """`[row, epoch]`"""
    counts = [np.bincount(text.rows(1, e), minlength=len(text.encoded)) for e in range(epochs)]
    return np.array(counts).T


def test_parts_are_read_as_often_as_they_weigh() -> None:
    text = _text(*map(Part, SIZES, WEIGHTS))
    often = _how_often(text, 300)
    start = 0
    for size, weight in zip(SIZES, WEIGHTS, strict=True):
        part = often[start : start + size]
        start += size
        # in each epoch, to the next row, and in the long run exactly
        assert np.abs(part.sum(0) - weight * size).max() <= 1
        assert np.abs(part.sum(0).cumsum() - weight * size * np.arange(1, 301)).max() <= 0.5 + 1e-6
        # no row more often than another of its part by more than one, in any epoch
        assert part.min() >= int(weight)
        assert part.max() <= int(np.ceil(weight))
        # and over all of them no row is preferred: four standard deviations of a fair draw
        fraction = weight % 1
        error = 4.5 * np.sqrt(300 * fraction * (1 - fraction)) + 1
        assert np.abs(part.sum(1) - 300 * weight).max() <= error


def test_draws_differ_by_epoch_seed_and_part() -> None:
    text = _text(Part(50, 0.5), Part(50, 0.5))
    here = text.rows(1, 0).tolist()
    assert here != text.rows(1, 1).tolist()
    assert here != text.rows(2, 0).tolist()
    assert here[:25] != [row - 50 for row in here[25:]]


def test_the_fingerprint_changes_with_pieces_order_and_weights() -> None:
    two_pairs = EncodedText(Sentences([[4, 5], [6]]), Sentences([[7], [8]]), [0, 1])
    plain = TrainingText(two_pairs, (Part(2),))
    others = [
        TrainingText(two_pairs, (Part(2, 0.5),)),
        TrainingText(two_pairs, (Part(1), Part(1))),
        TrainingText(replace(two_pairs, source=Sentences([[4], [5, 6]])), (Part(2),)),
        TrainingText(replace(two_pairs, source=Sentences([[6], [4, 5]])), (Part(2),)),
        TrainingText(
            replace(two_pairs, source=two_pairs.target, target=two_pairs.source), (Part(2),)
        ),
        TrainingText(replace(two_pairs, lines=[1, 0]), (Part(2),)),
    ]
    result = {text.fingerprint for text in [plain, *others]}
    assert len(result) == 1 + len(others)
    same = EncodedText(Sentences([[4, 5], [6]]), Sentences([[7], [8]]), np.array([0, 1]))
    assert TrainingText(same, (Part(2),)).fingerprint == plain.fingerprint


def test_folders_one_after_the_other_are_the_text_that_they_are_together(
    tokenizer: Tokenizer,
) -> None:
    odd = ParallelText(["", "The dog.", "The dog " * 50], ["Ein Hund.", "Der Hund.", "Der Hund."])
    folders = [DataFolder(Path("a")), DataFolder(Path("b"), 0.5), DataFolder(Path("a"))]
    text = run_data.encode_texts(folders, [TEXT, odd, TEXT], tokenizer, 40)
    source = [*TEXT.source, *odd.source, *TEXT.source]
    target = [*TEXT.target, *odd.target, *TEXT.target]
    together = encode(ParallelText(source, target), tokenizer, 40)
    assert text.encoded.source[:] == together.source[:]
    assert text.encoded.target[:] == together.target[:]
    assert list(text.encoded.lines) == list(together.lines)
    assert text.encoded.left_out == together.left_out == 2
    assert text.parts == (Part(300), Part(1, 0.5), Part(300))
    plain = replace(text, parts=(Part(300), Part(1), Part(300)))
    for epoch in range(2):
        result = batches.TokenBatches(text.encoded, 300, 1).epoch(epoch, plain.rows(1, epoch))
        expected = batches.TokenBatches(together, 300, 1).epoch(epoch)
        assert [rows.tolist() for rows in result] == [rows.tolist() for rows in expected]
    with pytest.raises(CorpusError, match="No sentence pair has between 1 and 1 pieces"):
        run_data.encode_texts(folders[:1], [TEXT], tokenizer, 2)
