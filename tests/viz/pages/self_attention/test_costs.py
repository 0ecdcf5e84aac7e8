"""Work and memory by formula and as measured."""

import json

import pytest

from tests.viz.app_test import texts
from tests.viz.pages.reading import records
from transformer.paper import costs, paths
from viz.app import measurements
from viz.figures.growth import growth_chart
from viz.pages.self_attention.costs import explain_difference

MEASURED = measurements.FOLDER / "layers.json"


def test_each_chart_says_its_size(opened) -> None:
    measurement = json.loads(MEASURED.read_text("utf-8"))
    d, h, k = (measurement[name] for name in ("d", "h", "k"))
    app = opened()
    measured = f"Measured, d = {d}, h = {h}, k = {k}"
    assert {heading.value for heading in app.subheader} >= {
        "By formula, d = 512, h = 8, k = 3", measured
    }  # fmt: skip
    assert any("different sizes" in text for text in texts(app))
    app = opened(arch_d=str(d), arch_heads=str(h), arch_k=str(k))
    assert {heading.value for heading in app.subheader} >= {
        f"By formula, d = {d}, h = {h}, k = {k}", measured
    }  # fmt: skip
    assert not any("different sizes" in text for text in texts(app))


def test_memory_is_another_picture(opened) -> None:
    app = opened(arch_quantity="memory", arch_d="16", arch_heads="2", arch_n="64")
    (rows,) = records(app)  # nothing crosses
    for row in rows:
        if row["layer"] == "self-attention":
            assert row["value"] == pytest.approx(16 * row["n"] + 2 * row["n"] ** 2)
    (dots,) = records(app, 1)
    measurement = json.loads(MEASURED.read_text("utf-8"))["layers"]
    assert dots[0]["value"] == measurement["self-attention"][0]["bytes"] / 2**20


def test_without_a_measurement_the_page_says_how_to_make_one(opened, monkeypatch, tmp_path) -> None:
    for text in (None, '{"layers": {"recurrent": [{"n": 3}]}}'):
        monkeypatch.setattr(measurements, "FOLDER", tmp_path)
        if text is not None:
            (tmp_path / "layers.json").write_text(text)
        app = opened()
        assert any("python -m benchmarks layers" in line for line in texts(app))
        assert len(app.get("vega_lite_chart")) == 1


def test_what_was_measured_is_drawn_as_dots() -> None:
    curves = {"recurrent": ([16, 32], [0.5, 0.9])}
    chart = growth_chart(curves, quantity="ms", dots=True).to_dict()
    assert chart["mark"]["point"]
    ((first, second),) = chart["datasets"].values()
    assert (first["n"], first["value"], second["value"]) == (16, 0.5, 0.9)
    assert chart["encoding"]["y"]["axis"]["values"] == [0.1, 1.0]
    assert chart["encoding"]["x"]["axis"]["values"] == [16, 32]


def test_the_other_columns_of_the_table_are_curves(opened) -> None:
    for quantity, expected in (
        ("sequential operations", lambda layer, n: n if layer == "recurrent" else 1),
        ("longest path", lambda layer, n: paths.longest_path(layer, n, SIZES)),
    ):
        app = opened(arch_quantity=quantity, arch_n="64", arch_k="2", arch_r="8")
        for row in records(app)[0]:
            assert row["value"] == expected(row["layer"], row["n"])
        # a path takes no time of its own
        assert len(app.get("vega_lite_chart")) == 1 + (quantity != "longest path")


SIZES = costs.Sizes(d=512, k=2, r=8, h=8)


def test_the_sentence_counts_where_convolution_is_first() -> None:
    """By Table 1 it is the cheapest nowhere; with all factors wherever k is below four."""
    lengths = [16.0, 512.0, 4096.0]
    seconds = {
        "self-attention": [2.0, 2.0, 9.0],
        "recurrent": [3.0, 1.0, 5.0],
        "convolutional": [1.0, 3.0, 4.0],
    }
    curves = {"seconds": {name: (lengths, values) for name, values in seconds.items()}}
    measurement = measurements.Measurement(curves, (256, 4, 3), "")
    for k, fewest in ((3, 3), (6, 2), (40, 0)):
        sizes = costs.Sizes(d=256, k=k, r=64, h=4)
        text = explain_difference(measurement, sizes)
        works = [min(n * n * 256, n * 256**2) >= k * n * 256**2 for n in lengths]
        all_of_them = [
            k * n * 256**2 <= min(4 * n * 256**2 + 2 * n * n * 256, 8 * n * 256**2) for n in lengths
        ]
        assert sum(all_of_them) == fewest
        assert (
            f"fastest at 2 of these 3 lengths, and the cheapest by Table 1 at {sum(works)}" in text
        )
        assert f"k · d = {k * 256:,}" in text
        assert f"multiplications at {fewest} of 3" in text
