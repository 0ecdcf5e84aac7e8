"""Means are means and are called so; a step shows what exists and nothing else."""

import numpy as np
import pytest

from tests.made_trace import made_trace
from tests.viz.draw.message import decode
from tests.viz.planted_trace import planted, planted_at
from transformer import KINDS
from transformer.analysis.sinks import without_sinks
from viz.draw.heads_view import ExplorerOptions, HeadsView
from viz.draw.labels import SCREEN_NAMES
from viz.draw.open_head import heads_of_kind, open_map


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
    if layer is None or head is None:  # the mean of a single head is not a plural
        single = heads_of_kind(made_trace(6, 1, 1, 0), "cross", words=False, special=True)
        alone = open_map(single, layer and 0, head and 0).title
        assert "mean of 1 head ·" in alone or "mean of 1 layer ·" in alone


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sinks", [True, False])
def test_every_picture_is_named_after_the_heads_whose_weights_it_holds(kind, sinks) -> None:
    trace = planted()
    end = SCREEN_NAMES[kind] if sinks else f"{SCREEN_NAMES[kind]} · without sinks"
    expected = trace if sinks else without_sinks(trace, kind)
    view, second = (
        HeadsView(trace, ExplorerOptions(kind, *head, sinks=sinks)) for head in ((1, 2), (0, 1))
    )
    a_map, other = decode(view.open_map())[0], decode(second.open_map())[0]
    for message, head, name in ((a_map, (1, 2), "L2 H3"), (other, (0, 1), "L1 H2")):
        assert message["title"] == f"{name} · {end}"
        np.testing.assert_array_equal(message["weights"], expected.weights(kind)[head])
    if sinks:
        query, key = planted_at(trace, kind, 1, 2)
        assert a_map["weights"][query].argmax() == key
    ribbons = decode(view.ribbons([(0, 0)], None))[0]
    assert (ribbons["heads"], ribbons["title"]) == (["L2 H3", "L1 H1"], end)
    weights = [expected.weights(kind)[head] for head in ((1, 2), (0, 0))]
    np.testing.assert_array_equal(ribbons["weights"], weights)
    difference = decode(view.difference(second) or b"")[0]
    assert difference["title"] == f"L2 H3 · {end} minus L1 H2 · {end}"
    same = decode(view.difference(view) or b"")[0]
    assert same["title"] == f"L2 H3 · {end} · first minus second"
    assert decode(view.grid())[0]["nameEnd"] == ("" if sinks else "without sinks")
