"""The curves of Table 1 that are drawn are those that were given, on logarithmic axes."""

import numpy as np
import pytest

from transformer.analysis.paper.complexity import LAYERS, Sizes, crossings, work
from viz.pages.architecture.work_chart import COLORS, growth_chart, lengths

SIZES = Sizes(d=512, k=3, r=64, h=8)


def test_every_point_of_every_curve_is_drawn() -> None:
    n = lengths(4096, 512)
    curves = {layer: (n, work(layer, n, SIZES)) for layer in LAYERS}
    met = {layer: (at, float(work(layer, at, SIZES))) for layer, at in crossings(SIZES).items()}
    chart = growth_chart(curves, quantity="operations", crossings=met).to_dict()
    lines, rings = chart["datasets"].values()
    for layer in LAYERS:
        drawn = [(row["n"], row["value"]) for row in lines if row["layer"] == layer]
        d, k, r = 512, 3, 64
        expected = {
            "self-attention": n * n * d,
            "recurrent": n * d * d,
            "convolutional": k * n * d * d,
            "restricted self-attention": np.minimum(r, n) * n * d,
        }[layer]
        np.testing.assert_allclose(drawn, np.stack([n, expected], axis=1))
    assert {(row["layer"], row["n"], row["value"]) for row in rings} == {
        ("recurrent", 512, 512**3),
        ("convolutional", 1536, 3 * 1536 * 512**2),
        ("restricted self-attention", 64, 64 * 64 * 512),
    }
    for layer in chart["layer"]:
        assert all(layer["encoding"][axis]["scale"]["type"] == "log" for axis in "xy")
        scale = layer["encoding"]["color"]["scale"]
        assert dict(zip(scale["domain"], scale["range"], strict=True)) == COLORS


def test_what_was_measured_is_drawn_as_dots() -> None:
    curves = {"recurrent": ([16, 32], [0.5, 0.9])}
    chart = growth_chart(curves, quantity="ms", dots=True).to_dict()
    assert chart["mark"]["point"]
    ((first, second),) = chart["datasets"].values()
    assert (first["n"], first["value"], second["value"]) == (16, 0.5, 0.9)
    assert chart["encoding"]["y"]["axis"]["values"] == [0.1, 1.0]
    assert chart["encoding"]["x"]["axis"]["values"] == [16, 32]


def test_lengths_rise_from_the_first_to_the_last_and_hold_what_fits() -> None:
    n = lengths(100, 64, 1000, 3)
    assert (n[0], n[-1]) == (4, pytest.approx(100))
    assert (np.diff(n) > 0).all()
    assert 64 in n
    assert 1000 not in n


def test_every_layer_of_table_1_has_a_colour_of_its_own() -> None:
    assert set(COLORS) == set(LAYERS)
    assert len(set(COLORS.values())) == len(LAYERS)
    assert not set(COLORS.values()) & {"#009E73", "#0072B2", "#D55E00"}
