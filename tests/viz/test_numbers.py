"""The numbers beside a head, against cases that can be done by hand."""

import numpy as np
import pytest

from viz.numbers import alignedness, summarise


def uniform(rows: int, keys: int) -> np.ndarray:
    return np.full((rows, keys), 1 / keys, np.float32)


def test_a_head_that_looks_at_all_alike_has_the_entropy_of_its_keys() -> None:
    found = summarise(uniform(3, 8))
    assert found.entropy == found.most_entropy == pytest.approx(3)


def test_a_head_that_looks_at_one_token_has_no_entropy() -> None:
    assert summarise(np.eye(5, dtype=np.float32)).entropy == 0


def test_the_largest_weight_is_found_where_it_is() -> None:
    weights = np.array([[0.4, 0.3, 0.3], [0.1, 0.1, 0.8]], np.float32)
    found = summarise(weights)
    assert (found.query, found.key) == (1, 2)
    assert found.largest == pytest.approx(0.8)


def test_offset_is_how_far_ahead_a_position_looks() -> None:
    ahead = np.eye(5, k=2, dtype=np.float32)[:3]  # row i looks at i + 2
    assert summarise(ahead).offset == pytest.approx(2)
    assert summarise(ahead).spread == pytest.approx(0)
    back = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    assert summarise(back).offset == pytest.approx(-2 / 3)
    by_hand = summarise(np.array([[0.5, 0.5], [0, 1]], np.float32))
    assert by_hand.offset == pytest.approx(0.25)
    assert by_hand.spread == pytest.approx(np.sqrt(0.1875))


def test_the_first_position_of_the_decoder_is_left_out() -> None:
    weights = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.5, 0.25]], np.float32)
    found = summarise(weights, causal=True)
    assert found.entropy == pytest.approx(1.25)
    assert found.most_entropy == pytest.approx((1 + np.log2(3)) / 2)
    assert (found.query, found.key, found.largest) == (1, 0, 0.5)
    assert found.offset == pytest.approx((-0.5 - 1) / 2)
    assert summarise(weights[:1, :1], causal=True).largest == 1  # unless it is alone


def test_an_alignment_beats_a_stare_and_a_blur() -> None:
    diagonal = np.eye(6, dtype=np.float32)
    stare = np.zeros((6, 6), np.float32)
    stare[:, 3] = 1
    scores = alignedness(np.stack([stare, uniform(6, 6), diagonal])[:, None])
    assert scores.argmax() == 2


def test_one_token_each_way_aligns_nothing() -> None:
    assert alignedness(np.ones((2, 3, 1, 1), np.float32)).tolist() == [0, 0]
