"""Batches hold what they may, waste little, and come again the same."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from training.data.batches import TokenBatches, make_batch
from training.data.corpus import EncodedText
from training.data.sentences import Sentences
from transformer.config import BOS, EOS, PAD


def _text(lengths: list[tuple[int, int]]) -> EncodedText:
    source, target = ([5] * s for s, _ in lengths), ([6] * t for _, t in lengths)
    return EncodedText(Sentences(source), Sentences(target))


def test_target_is_the_labels_shifted_right() -> None:
    text = EncodedText(Sentences([[7, 8], [9]]), Sentences([[10, 11, 12], [13]]))
    batch = make_batch(text, [0, 1])
    assert batch.source.tolist() == [[7, 8, EOS], [9, EOS, PAD]]
    assert batch.target.tolist() == [[BOS, 10, 11, 12], [BOS, 13, PAD, PAD]]
    assert batch.labels.tolist() == [[10, 11, 12, EOS], [13, EOS, PAD, PAD]]
    assert batch.tokens() == 6


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=80),
    st.integers(32, 200),
    st.sampled_from([1, 8]),
)
def test_every_sentence_comes_once_and_no_batch_is_too_large(
    lengths: list[tuple[int, int]], budget: int, multiple: int
) -> None:
    text = _text(lengths)
    batches = TokenBatches(text, budget, 3, multiple).epoch(0)
    assert sorted(np.concatenate(batches)) == list(range(len(lengths)))
    for rows in batches:
        batch = make_batch(text, rows, multiple)
        for side in (batch.source, batch.target):
            assert side.numel() <= budget
            assert side.size(1) % multiple == 0
        assert batch.tokens() == sum(lengths[row][1] + 1 for row in rows)


def cut_row_by_row(
    lengths: list[tuple[int, int]], rows: np.ndarray, budget: int, multiple: int
) -> list[list[int]]:
    """The batches of an epoch before they are put into random order, one row after the other."""
    found: list[list[int]] = []
    longest = 0
    # sorted() is stable, too
    for row in sorted(rows.tolist(), key=lambda row: (lengths[row][1], lengths[row][0])):
        length = max(lengths[row]) + 1
        padded = -(-max(longest, length) // multiple) * multiple
        if not found or padded * (len(found[-1]) + 1) > budget:
            found.append([])
            longest = 0
        found[-1].append(row)
        longest = max(longest, length)
    return found


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=80),
    st.integers(1, 200),  # some sentences are too long for any batch
    st.sampled_from([1, 3, 8]),
    st.data(),
)
def test_batches_are_those_of_a_loop_over_all_rows(
    lengths: list[tuple[int, int]], budget: int, multiple: int, data: st.DataObject
) -> None:
    batches = TokenBatches(_text(lengths), budget, 3, multiple)
    one = st.integers(0, len(lengths) - 1)
    given_rows = data.draw(st.none() | st.lists(one, max_size=99).map(np.array))
    rows = np.arange(len(lengths)) if given_rows is None else given_rows.astype(np.int64)
    random = np.random.default_rng((3, 5))
    expected = cut_row_by_row(lengths, rows[random.permutation(len(rows))], budget, multiple)
    order = random.permutation(len(expected))
    found = batches.epoch(5, None if given_rows is None else rows)
    assert [batch.tolist() for batch in found] == [expected[i] for i in order]


def test_an_epoch_is_the_same_each_time_and_another_one_differs() -> None:
    text = _text([(i % 7 + 1, i % 5 + 1) for i in range(200)])
    batches = TokenBatches(text, 60, seed=1)
    first, again, second = batches.epoch(0), batches.epoch(0), batches.epoch(1)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, second, strict=False))
    other_seed = TokenBatches(text, 60, seed=2).epoch(0)
    assert not all(np.array_equal(a, b) for a, b in zip(first, other_seed, strict=False))


def test_bucketing_by_length_wastes_little() -> None:
    random = np.random.default_rng(0)
    lengths = random.integers(3, 30, 2000)
    text = _text([(int(n), int(max(1, n + random.integers(-2, 3)))) for n in lengths])
    batches = [make_batch(text, rows) for rows in TokenBatches(text, 1000, seed=0).epoch(0)]
    padded = sum(batch.labels.numel() for batch in batches)
    assert sum(batch.tokens() for batch in batches) / padded > 0.95
    assert all(isinstance(batch.labels, torch.Tensor) for batch in batches)
