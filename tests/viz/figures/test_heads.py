"""Each figure holds the planted values under the right words."""

import json
from typing import cast

import numpy as np
import pandas as pd
import pytest
import torch

from transformer import InputError, Kind
from transformer.analysis.lenses import as_rows
from viz.draw.palette import COLOR, colorscale
from viz.figures.axes import OLIVE, PALE, PURPLE
from viz.figures.heads import all_heads, head_bars, head_map, measures_chart

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


def test_all_heads_stand_in_their_place_with_their_name():
    figure = all_heads(planted(), QUERIES, KEYS, kind="cross")
    titles = [annotation.text for annotation in figure.layout.annotations]
    assert [heatmap.name for heatmap in figure.data] == titles
    assert titles == ["L1 H1", "L1 H2", "L1 H3", "L2 H1", "L2 H2", "L2 H3"]
    for number, heatmap in enumerate(figure.data):
        assert (heatmap.xaxis[1:], heatmap.yaxis[1:]) == (str(number + 1) if number else "",) * 2
        z = np.asarray(heatmap.z)
        at = np.unravel_index(z.argmax(), z.shape)
        assert tuple(map(int, at)) == (number % 4, (2 * number + 1) % 5)
        x = figure.layout[heatmap.xaxis.replace("x", "xaxis")].domain
        y = figure.layout[heatmap.yaxis.replace("y", "yaxis")].domain
        column, row = number % HEADS, number // HEADS
        assert column / HEADS <= sum(x) / 2 < (column + 1) / HEADS  # heads across
        assert row / LAYERS <= 1 - sum(y) / 2 < (row + 1) / LAYERS  # layers down


def test_a_row_is_drawn_in_the_order_of_the_sentence_with_a_word_twice():
    row = np.array([0.1, 0.2, 0.3, 0.15, 0.25], np.float32)
    spec = head_bars(row, KEYS, kind="cross").to_dict()
    drawn = next(iter(spec["datasets"].values()))
    words = ["Two", "dogs", "<b>run</b>", "dogs", "end"]
    assert [record["token"] for record in drawn] == words
    assert [record["weight"] for record in drawn] == pytest.approx(row.tolist())
    expression = spec["encoding"]["x"]["axis"]["labelExpr"]
    assert json.loads(expression.removesuffix("[datum.value]")) == words
    assert spec["mark"]["color"] == COLOR["cross"]


@pytest.mark.slow
def test_a_row_and_a_measure_of_more_than_5000_are_drawn():
    """Altair refuses to read longer tables of pandas."""
    spec = head_bars(np.full(5_001, 1 / 5_001), ["a"] * 5_001, kind="cross").to_dict()
    assert len(next(iter(spec["datasets"].values()))) == 5_001
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
    for draw, weights in ((head_map, values[0, 0]), (all_heads, values)):
        with pytest.raises(ValueError, match="as_rows"):
            draw(weights, QUERIES, KEYS, kind="cross")
        assert draw(as_rows(weights), QUERIES, KEYS, kind="cross").data
    with pytest.raises(ValueError, match="as_rows"):
        head_bars(values[0, 0, 0], KEYS, kind="cross")


def test_tensors_and_lists_are_drawn_and_what_is_neither_is_refused():
    for given in (
        torch.tensor(planted()[0, 0], requires_grad=True),
        torch.tensor(planted()[0, 0]).bfloat16(),
        planted()[0, 0].tolist(),
    ):
        assert hot(*head_map(given, QUERIES, KEYS, kind="cross").data)[2] == pytest.approx(
            0.91, 0.01
        )
        head_bars(given[0], KEYS, kind="cross")
    with pytest.raises(ValueError, match="no kind of attention 'enc'"):
        head_map(planted()[0, 0], QUERIES, KEYS, kind=cast("Kind", "enc"))
    with pytest.raises(ValueError, match="3 queries"):
        head_map(planted()[0, 0], QUERIES[:3], KEYS, kind="cross")
    with pytest.raises(ValueError, match="4 keys"):
        head_bars(planted()[0, 0, 0], KEYS[:4], kind="cross")
    with pytest.raises(ValueError, match="not numbers"):
        all_heads(planted() * np.nan, QUERIES, KEYS, kind="cross")
    with pytest.raises(InputError, match="no array of numbers"):
        head_map([[0.5], [0.5, 0.5]], QUERIES, KEYS, kind="cross")
