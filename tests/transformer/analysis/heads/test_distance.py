"""How far apart the weights of heads are."""

import numpy as np

from transformer.analysis.axes import LabelledWeights
from transformer.analysis.heads.measures import head_distances, row_distances, total_variation
from transformer.trace import Labels


def test_it_is_the_weight_that_was_moved() -> None:
    before = np.array(
        [[[1, 0, 0], [0.5, 0.5, 0]], [[0, 1, 0], [0, 0, 1]]], dtype=np.float32
    )  # two heads
    after = np.array([[[0.75, 0.25, 0], [0.5, 0, 0.5]], [[1, 0, 0], [0, 1, 0]]], dtype=np.float32)
    np.testing.assert_allclose(total_variation(after, before), [(0.25 + 0.5) / 2, 1])
    assert (total_variation(before, before) == 0).all()


def test_heads_that_share_no_key_are_at_1_in_the_decoder_too_whose_first_row_is_all_the_same():
    itself = np.eye(4, dtype=np.float32)
    first = np.zeros_like(itself)
    first[:, 0] = 1
    assert total_variation(itself, first, causal=True) == 1
    assert total_variation(itself, first) == 0.75
    only = np.ones((1, 1), dtype=np.float32)
    assert total_variation(only, only, causal=True) == 0


def axes(weights):
    labels = Labels(("q",) * weights.shape[2], ("k",) * weights.shape[3])
    return LabelledWeights(weights, labels)


def distances(first, second, kind):
    return head_distances(axes(first), axes(second), kind)


def test_a_row_is_as_far_as_the_share_that_lies_elsewhere() -> None:
    first = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]], dtype=np.float32)
    second = np.array([[0, 0, 1], [0.25, 0.5, 0.25], [0.2, 0.3, 0.5]], dtype=np.float32)
    np.testing.assert_allclose(row_distances(first, second), [1, 0.25, 0], atol=1e-7)


def test_a_head_is_as_far_as_its_rows_are_on_average_and_a_row_of_one_key_counts_not() -> None:
    first = np.zeros((2, 2, 3, 3), dtype=np.float32)
    first[..., 0] = 1
    second = first.copy()
    second[1, 0, 1] = [0, 1, 0]
    far = [[0.0, 0.0], [1 / 3, 0.0]]
    np.testing.assert_allclose(distances(first, second, "cross"), far)
    np.testing.assert_allclose(distances(first, second, "decoder_self"), [[0.0, 0.0], [0.5, 0.0]])
    one, other = (axes(weights)._replace(causal=False) for weights in (first, second))
    np.testing.assert_allclose(head_distances(one, other, "decoder_self"), far)


def test_heads_are_compared_with_a_layer_by_their_mean() -> None:
    heads = np.array([[[[1, 0]], [[0, 1]]]], dtype=np.float32)  # one layer, two heads
    layer = np.array([[[[0.75, 0.25]]]], dtype=np.float32)
    for pair in ((heads, layer), (layer, heads)):
        np.testing.assert_allclose(distances(*pair, "cross"), [[0.25]])


def test_a_head_that_a_layer_has_not_says_nothing() -> None:
    first = np.zeros((2, 2, 1, 2), dtype=np.float32)
    first[..., 0] = 1
    first[1, 1] = 0  # the second layer has one head
    second = first.copy()
    second[1, 0] = [[0, 1]]
    one, other = (axes(weights)._replace(head_counts=(2, 1)) for weights in (first, second))
    np.testing.assert_allclose(head_distances(one, other, "cross"), [[0.0, 0.0], [1.0, np.nan]])
    # against one map for all heads, the mean is over those that are there
    whole = axes(np.array([[[[1, 0]]], [[[1, 0]]]], dtype=np.float32))
    np.testing.assert_allclose(head_distances(other, whole, "cross"), [[0.0], [1.0]])
