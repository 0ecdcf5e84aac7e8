"""Means are means and are called so; a step shows what exists and nothing else."""

import numpy as np
import pytest

from benchmarks.made_trace import made_trace
from viz.draw.open_head import crop_to_step, heads_of_kind, open_map


@pytest.fixture(scope="module")
def trace():
    return made_trace(6, 3, 4, 0)


@pytest.mark.parametrize(
    ("layer", "head", "title"),
    [
        (2, 1, "L3 H2 · cross-attention"),
        (2, None, "layer 3 · mean of 4 heads · cross-attention"),
        (None, 1, "head 2 · mean of 3 layers · cross-attention"),
        (None, None, "mean of all 12 heads · cross-attention"),
    ],
)
def test_a_mean_is_over_what_its_title_says(trace, layer, head, title) -> None:
    opened = open_map(heads_of_kind(trace, "cross", words=False, special=True), layer, head)
    layers = slice(None) if layer is None else [layer]
    count = slice(None) if head is None else [head]
    expected = trace.cross[layers][:, count].astype(np.float64).mean((0, 1))
    assert opened.title == title
    np.testing.assert_allclose(opened.weights, expected, atol=1e-6)
    assert opened.labels == trace.labels("cross")
    assert opened.absorbed is None
    if layer is None or head is None:  # the mean of a single head is no plural
        single = heads_of_kind(made_trace(6, 1, 1, 0), "cross", words=False, special=True)
        alone = open_map(single, layer and 0, head and 0).title
        assert "mean of 1 head ·" in alone or "mean of 1 layer ·" in alone


@pytest.mark.parametrize(("kind", "keys"), [("cross", 6), ("decoder_self", 3)])
def test_a_step_has_its_rows_and_the_keys_that_exist(trace, kind, keys) -> None:
    heads = heads_of_kind(trace, kind, words=False, special=True)
    whole, cropped = open_map(heads, 0, 0), crop_to_step(heads, 2)
    opened = open_map(cropped, 0, 0)
    np.testing.assert_array_equal(cropped.whole.weights, trace.weights(kind)[:, :, :3, :keys])
    np.testing.assert_array_equal(opened.weights, whole.weights[:3, :keys])
    assert opened.labels.queries == whole.labels.queries[:3]
    assert opened.labels.keys == whole.labels.keys[:keys]
    names = whole.reads or whole.writes
    assert names is not None
    assert (opened.reads or opened.writes) == names[:3]
    np.testing.assert_allclose(opened.weights.sum(-1), 1, atol=1e-5)


def test_what_special_tokens_absorb_is_that_of_the_open_head(translator) -> None:
    trace = translator.trace("The dog sleeps in the garden.", "Der Hund schläft im Garten.")
    opened = open_map(heads_of_kind(trace, "cross", words=False, special=False), 1, 2)
    ends = [token in ("<s>", "</s>") for token in trace.source_tokens]
    assert opened.absorbed == pytest.approx(float(trace.cross[1, 2, :-1][:, ends].sum(-1).mean()))
    np.testing.assert_array_equal(opened.weights, trace.cross[1, 2, :-1, :-1])
    assert "</s>" not in (*opened.labels.queries, *opened.labels.keys)
