"""Each figure holds the planted values under the right words."""

from typing import cast

import numpy as np
import pandas as pd
import pytest
import torch

from transformer import InputError, Kind
from transformer.analysis.lenses import as_rows
from viz.draw.palette import COLOR, colorscale
from viz.figures.axes import OLIVE, PALE, PURPLE
from viz.figures.heads import head_map, measures_chart

QUERIES = ("▁Zwei", "▁Hun", "de", "</s>")
KEYS = ("▁Two", "▁dogs", "▁<b>run</b>", "▁dogs", "</s>")
LAYERS, HEADS = 2, 3
KINDS = tuple(COLOR)


def planted():
    """Each head looks at one known cell."""
    weights = np.zeros((LAYERS, HEADS, len(QUERIES), len(KEYS)), np.float32)
    for number, (layer, head) in enumerate(np.ndindex(LAYERS, HEADS)):
        weights[layer, head, number % 4, (2 * number + 1) % 5] = 0.9125
    return weights


def hot(heatmap):
    """The brightest cell of a Plotly heatmap by what hover says of it, and its weight."""
    z = np.asarray(heatmap.z)
    at = np.unravel_index(z.argmax(), z.shape)
    return (*np.asarray(heatmap.customdata)[at].tolist(), float(z[at]))


@pytest.mark.parametrize("kind", KINDS)
def test_the_map_lights_up_where_the_head_looks_under_the_right_words(kind):
    for number, (layer, head) in [(0, (0, 0)), (4, (1, 1))]:
        figure = head_map(planted()[layer, head], QUERIES, KEYS, kind=kind, title="L1 H1")
        rows = ("Zwei", "Hun", "·de", "end")
        columns = ("Two", "dogs", "&lt;b&gt;run&lt;/b&gt;", "dogs", "end")
        query, key = number % 4, (2 * number + 1) % 5
        (heatmap,) = figure.data
        assert hot(heatmap) == (rows[query], columns[key], pytest.approx(0.9125))
        assert (figure.layout.yaxis.ticktext, figure.layout.xaxis.ticktext) == (rows, columns)
        assert figure.layout.yaxis.tickvals == (0, 1, 2, 3)
        assert figure.layout.yaxis.autorange == "reversed"  # the first row is on top
        assert figure.layout.xaxis.side == "top"
        assert (heatmap.zmin, heatmap.zmax) == (0, 1)
        assert heatmap.colorscale == tuple(colorscale(kind, "light"))


@pytest.mark.slow
def test_a_measure_of_more_than_5000_heads_is_drawn():
    """Altair refuses to read longer tables of pandas."""
    layer, head = np.divmod(np.arange(5_001), 64)
    frame = pd.DataFrame({"layer": layer, "head": head, "entropy": 0.5, "p": 0.01})
    spec = measures_chart(frame).to_dict()
    assert [len(rows) for rows in spec["datasets"].values()] == [5_001] * len(spec["datasets"])


def test_the_chart_of_a_measure_has_a_square_for_each_head():
    frame = pd.DataFrame({"layer": [0, 0, 1], "head": [0, 1, 0], "entropy": [0.5, 1.5, 2.0]})
    spec = measures_chart(frame).to_dict()
    assert next(iter(spec["datasets"].values())) == [
        {"layer": 1, "head": 1, "value": 0.5},
        {"layer": 1, "head": 2, "value": 1.5},
        {"layer": 2, "head": 1, "value": 2.0},
    ]
    assert spec["encoding"]["color"]["title"] == "entropy"
    signed = measures_chart(frame.assign(entropy=[-0.5, 1.5, -2.0])).to_dict()
    scale = signed["encoding"]["color"]["scale"]
    assert (scale["domain"], scale["range"]) == ([-2.0, 0, 2.0], [OLIVE, PALE, PURPLE])
    shared = frame.assign(p=[0.01, 0.05, 0.9])
    layers = measures_chart(shared, (-1.0, 4.0)).to_dict()
    cells, dots = (layers["datasets"][layer["data"]["name"]] for layer in layers["layer"])
    assert [cell["p"] for cell in cells] == [0.01, 0.05, 0.9]
    assert [(dot["layer"], dot["head"]) for dot in dots] == [(1, 1)]
    assert layers["layer"][1]["mark"]["aria"] is False  # axe refuses a group without a mark
    assert layers["layer"][0]["encoding"]["color"]["scale"]["domain"] == [-4.0, 0, 4.0]
    with pytest.raises(ValueError, match="third column"):
        measures_chart(frame[["layer", "head"]])
    named = frame.drop(columns="head").assign(place=["b", "a", "b"])
    spec = measures_chart(named, across="place").to_dict()
    assert [cell["place"] for cell in next(iter(spec["datasets"].values()))] == ["b", "a", "b"]
    assert spec["encoding"]["x"]["sort"] is None  # as the frame has them


@pytest.mark.parametrize("value", [11.4, -0.149])
def test_what_a_lens_gives_is_drawn_as_rows_or_not_at_all(value):
    values = planted()
    values[0, 0, 0, 0] = value
    with pytest.raises(ValueError, match="as_rows"):
        head_map(values[0, 0], QUERIES, KEYS, kind="cross")
    assert head_map(as_rows(values[0, 0]), QUERIES, KEYS, kind="cross").data


def test_tensors_and_lists_are_drawn_and_what_is_neither_is_refused():
    for given in (
        torch.tensor(planted()[0, 0], requires_grad=True),
        torch.tensor(planted()[0, 0]).bfloat16(),
        planted()[0, 0].tolist(),
    ):
        assert hot(*head_map(given, QUERIES, KEYS, kind="cross").data)[2] == pytest.approx(
            0.91, 0.01
        )
    with pytest.raises(ValueError, match="no kind of attention 'enc'"):
        head_map(planted()[0, 0], QUERIES, KEYS, kind=cast("Kind", "enc"))
    with pytest.raises(ValueError, match="3 queries"):
        head_map(planted()[0, 0], QUERIES[:3], KEYS, kind="cross")
    with pytest.raises(ValueError, match="not numbers"):
        head_map(planted()[0, 0] * np.nan, QUERIES, KEYS, kind="cross")
    with pytest.raises(InputError, match="not an array of numbers"):
        head_map([[0.5], [0.5, 0.5]], QUERIES, KEYS, kind="cross")
