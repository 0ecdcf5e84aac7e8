"""Parts are read as often as their weights say, and alike in every process."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.training.conftest import sentence_pairs
from training.data.batches import TokenBatches
from training.data.corpus import CorpusError, EncodedText, ParallelText, encode
from training.data.folders import DataFolder
from training.data.sentences import Sentences
from training.data.training_text import Part, TrainingText, encode_texts
from transformer.text.tokenizer import Tokenizer

ROOT = Path(__file__).parents[3]
TEXT = ParallelText(*(list(side) for side in zip(*sentence_pairs(300), strict=True)))
WEIGHTS = (1.0, 0.3, 2.75, 0.001)
SIZES = (5, 101, 40, 30)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(TEXT.source + TEXT.target, 150)


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
    often = _how_often(text, 1000)
    start = 0
    for size, weight in zip(SIZES, WEIGHTS, strict=True):
        part = often[start : start + size]
        start += size
        # in each epoch, to the next row, and in the long run exactly
        assert np.abs(part.sum(0) - weight * size).max() <= 1
        assert np.abs(part.sum(0).cumsum() - weight * size * np.arange(1, 1001)).max() <= 0.5 + 1e-6
        # no row more often than another of its part by more than one, in any epoch
        assert part.min() >= int(weight)
        assert part.max() <= int(np.ceil(weight))
        # and over all of them no row is preferred: four standard deviations of a fair draw
        fraction = weight % 1
        error = 4.5 * np.sqrt(1000 * fraction * (1 - fraction)) + 1
        assert np.abs(part.sum(1) - 1000 * weight).max() <= error


def test_of_weight_1_all_rows_are_read_in_order() -> None:
    text = _text(Part(5), Part(3), Part(0), Part(2, 2))
    assert text.rows(1, 4).tolist() == [*range(10), 8, 9]
    assert _text(Part(4), Part(2)).rows(3, 1).tolist() == list(range(6))


def test_draws_differ_by_epoch_seed_and_part_and_repeat_in_another_process() -> None:
    text = _text(Part(50, 0.5), Part(50, 0.5))
    here = text.rows(1, 0).tolist()
    assert here != text.rows(1, 1).tolist()
    assert here != text.rows(2, 0).tolist()
    assert here[:25] != [row - 50 for row in here[25:]]
    code = (
        "from training.data.training_text import Part, TrainingText\n"
        "from training.data.corpus import EncodedText\n"
        "from training.data.sentences import Sentences\n"
        "text = EncodedText(Sentences(), Sentences())\n"
        "print(TrainingText(text, (Part(50, 0.5), Part(50, 0.5))).rows(1, 0).tolist())"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert found.stdout == f"{here}\n"


def test_the_fingerprint_changes_with_pieces_order_and_weights() -> None:
    one = EncodedText(Sentences([[4, 5], [6]]), Sentences([[7], [8]]), [0, 1])
    plain = TrainingText(one, (Part(2),))
    others = [
        TrainingText(one, (Part(2, 0.5),)),
        TrainingText(one, (Part(1), Part(1))),
        TrainingText(replace(one, source=Sentences([[4], [5, 6]])), (Part(2),)),
        TrainingText(replace(one, source=Sentences([[6], [4, 5]])), (Part(2),)),
        TrainingText(replace(one, source=one.target, target=one.source), (Part(2),)),
        TrainingText(replace(one, lines=[1, 0]), (Part(2),)),
    ]
    found = {text.fingerprint for text in [plain, *others]}
    assert len(found) == 1 + len(others)
    same = EncodedText(Sentences([[4, 5], [6]]), Sentences([[7], [8]]), np.array([0, 1]))
    assert TrainingText(same, (Part(2),)).fingerprint == plain.fingerprint


def test_folders_one_after_the_other_are_the_text_that_they_are_together(
    tokenizer: Tokenizer,
) -> None:
    odd = ParallelText(["", "The dog.", "The dog " * 50], ["Ein Hund.", "Der Hund.", "Der Hund."])
    folders = [DataFolder(Path("a")), DataFolder(Path("b"), 0.5), DataFolder(Path("a"))]
    text = encode_texts(folders, [TEXT, odd, TEXT], tokenizer, 40)
    together = encode(TEXT + odd + TEXT, tokenizer, 40)
    assert text.encoded.source[:] == together.source[:]
    assert text.encoded.target[:] == together.target[:]
    assert list(text.encoded.lines) == list(together.lines)
    assert text.encoded.left_out == together.left_out == 2
    assert text.parts == (Part(300), Part(1, 0.5), Part(300))
    plain = replace(text, parts=(Part(300), Part(1), Part(300)))
    for epoch in range(2):
        found = TokenBatches(text.encoded, 300, 1).epoch(epoch, plain.rows(1, epoch))
        expected = TokenBatches(together, 300, 1).epoch(epoch)
        assert [rows.tolist() for rows in found] == [rows.tolist() for rows in expected]
    with pytest.raises(CorpusError, match="No sentence pair has between 1 and 1 pieces"):
        encode_texts(folders[:1], [TEXT], tokenizer, 2)
