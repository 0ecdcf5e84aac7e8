"""Both functions on the sentence, their costs, and the scale, as the page draws them."""

import json
import math

import numpy as np
import pytest
import torch

from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE, html
from tests.viz.plotly_values import map_values
from transformer.analysis.teacher_forcing import forced_pair
from transformer.config import BOS
from transformer.paper import additive
from viz.app import measurements

LAYER, HEAD = 1, 2
PLACE = {"kind": "decoder", "layer": str(LAYER + 1), "head": str(HEAD + 1)}
POINT = f"decoder.layers.{LAYER}.self_attention.hook_"
SCALES = ("÷ √d_k", "none", "× √d_k")


def maps(app, number: int) -> np.ndarray:
    (chart,) = app.get("plotly_chart")
    return np.asarray(map_values(chart.proto.spec, number))


def row_by_row(scores: np.ndarray) -> np.ndarray:
    """The softmax of each row over the keys that a decoder's position sees."""
    weights = np.zeros_like(scores)
    for row in range(len(scores)):
        seen = [math.exp(score - max(scores[row, : row + 1])) for score in scores[row, : row + 1]]
        weights[row, : row + 1] = np.array(seen) / sum(seen)
    return weights


@pytest.fixture
def values(translator):
    trace = translator.trace(SENTENCE)
    pair = forced_pair(translator.model, trace)
    assert pair.target[0, 0] == BOS
    with torch.no_grad():
        return translator.model.run_with_cache(pair.source, pair.target)[1]


@pytest.mark.parametrize("seed", ["0", "7"])
def test_the_three_maps_are_the_heads_and_those_of_loops(opened, values, seed: str) -> None:
    app = opened(additive_seed=seed, **PLACE)
    q, k, pattern = (
        values[POINT + name][0, HEAD].double().numpy() for name in ("q", "k", "pattern")
    )
    np.testing.assert_allclose(maps(app, 0), pattern, atol=1e-5)
    drawn = additive.draw_weights(q.shape[-1], int(seed))
    asked, keys = q @ drawn.W_q, k @ drawn.W_k
    dots, added = np.zeros((2, len(q), len(k)))
    for i, j in np.ndindex(dots.shape):
        dots[i, j] = sum(asked[i] * keys[j]) / math.sqrt(q.shape[-1])
        added[i, j] = sum(
            v * math.tanh(h) for v, h in zip(drawn.v, asked[i] + keys[j], strict=True)
        )
    np.testing.assert_allclose(maps(app, 1), row_by_row(dots), atol=1e-5)
    np.testing.assert_allclose(maps(app, 2), row_by_row(added), atol=1e-5)
    (chart,) = app.get("plotly_chart")
    titles = [note["text"] for note in json.loads(chart.proto.spec)["layout"]["annotations"]]
    for number, title in enumerate(titles):
        assert title.endswith(f" {maps(app, number).max(-1).mean():.2f}")


def test_the_costs_are_compared_as_in_the_file(opened, monkeypatch, tmp_path) -> None:
    content = json.loads((measurements.FOLDER / "additive.json").read_text("utf-8"))
    rows = {name: content["layers"][name] for name in (additive.DOT, additive.ADDITIVE)}
    app = opened()
    last = [rows[name][-1] for name in (additive.ADDITIVE, additive.DOT)]
    times, sizes = (last[0][field] / last[1][field] for field in ("seconds", "bytes"))
    assert any(f"{times:,.0f} times the time and {sizes:,.0f} times" in text for text in texts(app))
    monkeypatch.setattr(measurements, "FOLDER", tmp_path)
    assert any("python -m benchmarks additive" in text for text in texts(opened()))


def test_the_unit_of_a_measurement_is_that_of_its_factor() -> None:
    units = {"ms": 1e3, "MiB": 2**-20}
    for title, factor in measurements.FIELDS.values():
        assert units[title.split()[0]] == factor


@pytest.mark.parametrize("page", ["additive", "inside"])
@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("scale", SCALES)
def test_a_link_names_a_scale_as_the_code_or_as_the_screen(serve, page, shown, scale) -> None:
    named = scale.replace("d_k", "dₖ") if shown else scale
    app = serve(page, text=SENTENCE, additive_view="Scale", scale_of=named)
    assert not app.exception
    assert app.selectbox(key="scale_of").value == scale


@pytest.mark.parametrize("scale", SCALES)
def test_the_misprint_is_tried_on_weights_and_translation(
    opened, translator, values, scale: str
) -> None:
    app = opened(additive_view="Scale", scale_of=scale, **PLACE)
    trace, d_k = translator.trace(SENTENCE), translator.model.config.d_k
    by = {"÷ √d_k": 1.0, "none": math.sqrt(d_k), "× √d_k": float(d_k)}[scale]

    def edit(scores: torch.Tensor, name: str) -> torch.Tensor:
        return scores * by

    config = translator.model.config
    names = [f"encoder.layers.{n}.self_attention" for n in range(config.N)]
    for kind in ("self", "cross"):
        names += [f"decoder.layers.{n}.{kind}_attention" for n in range(config.N)]
    with (
        torch.no_grad(),
        translator.model.hooks({f"{name}.hook_attn_scores": edit for name in names}),
    ):
        pair = forced_pair(translator.model, trace)
        _, edited = translator.model.run_with_cache(pair.source, pair.target)
        text = translator.translate(SENTENCE).log_prob
    np.testing.assert_allclose(maps(app, 0), values[POINT + "pattern"][0, HEAD], atol=1e-5)
    np.testing.assert_allclose(maps(app, 1), edited[POINT + "pattern"][0, HEAD], atol=1e-5)
    assert any(f"log probability {text:.2f}".replace("-", "−") in line for line in html(app))
