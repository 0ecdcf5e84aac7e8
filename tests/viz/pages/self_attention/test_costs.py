"""Work and memory by formula and as measured."""

import json

import pytest

from tests.viz.app_test import press, texts
from tests.viz.pages.reading import records
from viz.pages.self_attention import costs as page
from viz.pages.self_attention.costs import MEASURED, growth_chart


def test_each_chart_says_its_size_and_one_click_makes_them_the_same(opened) -> None:
    measurement = json.loads(MEASURED.read_text("utf-8"))
    d, h, k = (measurement[name] for name in ("d", "h", "k"))
    app = opened()
    measured = f"Measured, d = {d}, h = {h}, k = {k}"
    assert {heading.value for heading in app.subheader} >= {
        "By formula, d = 512, h = 8, k = 3", measured
    }  # fmt: skip
    assert any("different sizes" in text for text in texts(app))
    press(app, "Formula for the measured size")
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
        monkeypatch.setattr(page, "MEASURED", tmp_path / "layers.json")
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
