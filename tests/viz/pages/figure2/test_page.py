"""Figure 2 on other models and sentences, what opens at the right, and what a click chooses."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from tests.transformer.checkpoints.marian import marian_folder
from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE, frames, message, tables
from transformer import Tokenizer, Transformer, TransformerConfig, Translator
from transformer.analysis.heads.head import Head
from transformer.checkpoints import checkpoint
from transformer.kinds import KINDS
from transformer.paper.arithmetic import sublayer_values
from transformer.paper.multi_head import average_heads, head_matrices
from viz.app.chrome import charts
from viz.draw.labels import SCREEN_NAMES
from viz.figures.figure2 import Panel, drawing
from viz.figures.head_scatter import PICKED
from viz.pages.figure2 import matrices
from viz.pages.figure2.matrices import FIELDS

ONE_HEAD = "one head instead of h"


def cells(app: AppTest, chart: int) -> pd.DataFrame:
    (table,) = (frame for frame in frames(app, chart) if "value" in frame)
    return table


def numbers(texts: pd.Series) -> np.ndarray:
    return np.array([float(text.replace("−", "-").replace("∞", "inf")) for text in texts])


@pytest.mark.parametrize("kind", KINDS)
def test_each_head_stands_at_the_right_and_its_matrices_at_the_left(
    opened, translator: Translator, kind
) -> None:
    app = opened(kind=SCREEN_NAMES[kind], layer="2", head="3")
    trace = translator.trace(SENTENCE)
    values = sublayer_values(translator.model, trace, kind, 1)
    single = head_matrices(values, 2)
    left, right = cells(app, 0), cells(app, 1)
    for name, field in FIELDS.items():
        drawn = numbers(left[left["name"] == name]["value"])
        np.testing.assert_allclose(drawn, getattr(single, field).ravel(), atol=6e-4)
    for head in range(4):
        drawn = numbers(right[right["name"] == f"{head}"]["value"])
        np.testing.assert_allclose(drawn, values.weights[head].ravel(), atol=6e-4)
    parts = right[right["name"] == ""]
    q, k, v, z = (
        np.concatenate([*x], axis=1) for x in (values.q, values.k, values.v, values.z)
    )  # head after head
    expected = np.concatenate([x.ravel() for x in (values.output, z, q, k, v)])
    np.testing.assert_allclose(numbers(parts["value"]), expected, atol=6e-4)
    (table,) = tables(app)
    table = [[cell.replace("\u00a0", " ") for cell in row] for row in table]
    assert [row[2] for row in table[2:]] == ["32 × 8"] * 3 + ["32 × 32"]
    assert table[2][3] == "columns 17 to 24 of $W^Q$, 32 × 32"


def test_a_matrix_opens_at_the_right(opened, translator: Translator) -> None:
    values = sublayer_values(translator.model, translator.trace(SENTENCE), "decoder_self", 1)
    single = head_matrices(values, 0)
    for name, field in FIELDS.items():
        app = opened(kind="decoder", layer="2", head="1", figure2_open=name)
        component = "attention_map" if name == "softmax" else "tensor_strip"
        plain, arrays = message(app, component)
        drawn = arrays["weights" if name == "softmax" else "values"]
        np.testing.assert_allclose(drawn, getattr(single, field), rtol=1e-5, atol=1e-6)
        assert any(SENTENCE in line for line in plain["caption"])
    assert len(app.get("vega_lite_chart")) == 1


def test_a_click_opens_a_matrix_or_a_head_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, translator: Translator
) -> None:
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(charts, "altair_chart", lambda _, **settings: drawn.update(settings))
    trace, chart = translator.trace(SENTENCE), partial(drawing, [], [], 10)
    matrices.draw(trace, chart, "one", Head("cross", 1, 0), "")
    for name, chosen in (
        ("scaled", {matrices.OPEN: "scaled"}),
        ("3", {"layer": "2", "head": "4"}),
        *((name, {}) for name in ("4", "-1", "x", "", ["Q"], None, 3)),
    ):
        state: dict[str, Any] = {drawn["key"]: {"selection": {PICKED: [{"name": name}]}}}
        monkeypatch.setattr(st, "session_state", state)
        drawn["on_select"]()
        assert {key: state[key] for key in state if key != drawn["key"]} == chosen


MODELS: dict[str, TransformerConfig] = {
    "one layer, three heads": TransformerConfig(vocab_size=300, N=1, d_model=24, d_ff=8, h=3),
    "learned": TransformerConfig(vocab_size=300, N=2, d_model=16, d_ff=8, h=1, positions="learned"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"), [*((name, "Dog.") for name in MODELS), ("marian", SENTENCE)]
)
def test_any_model_shows_its_own_numbers(
    opened, tokenizer: Tokenizer, tmp_path: Path, name: str, text: str
) -> None:
    if name == "marian":
        folder = marian_folder.write(
            tmp_path, separate=True, layers=1, h=4, decoder=(3, 2, 20), scaled=False
        )
    else:
        folder = tmp_path / "model"
        config = replace(MODELS[name], vocab_size=tokenizer.vocab_size)
        torch.manual_seed(1)
        checkpoint.save(folder, Transformer(config).eval(), tokenizer)
    translator = Translator.load(folder)
    for kind in KINDS if name == "marian" else KINDS[2:]:
        url = {"text": text, "beam": "1", "kind": SCREEN_NAMES[kind], "layer": "1", "head": "1"}
        app = opened(checkpoint=folder, **url)
        stack = translator.model.config.stack(kind)
        assert len(cells(app, 1)["name"].unique()) == stack.h + 1
        left = cells(app, 0)
        assert len(left[left["name"] == "Z"]) % min(stack.d_v, 40) == 0
        app = opened(checkpoint=folder, figure2_view=ONE_HEAD, **url)
        if stack.h == 1:
            assert texts(app)[-1].startswith("This model has one head")
            continue
        assert len(cells(app, 0)["name"].unique()) == stack.h + 1


def test_of_512_rows_a_square_has_the_mean_and_padding_has_none() -> None:
    values = np.random.default_rng(0).normal(size=(512, 512))
    values[:, 500:] = -np.inf
    names = [f"{n}" for n in range(512)]
    panel = Panel((0, 1, 0, 100), "QKᵀ", "", values, names, names)
    spec = drawing([panel], [], 100).to_dict(validate=False)
    (table,) = (rows for rows in spec["datasets"].values() if rows and "value" in rows[0])
    assert len(table) == 20 * 40  # blocks of 26 rows and 13 columns
    block = values[26:52, 13:26]
    (square,) = (row for row in table if row["row"] == "26 … 51" and row["column"] == "13 … 25")
    assert square["value"] == f"{block.mean():.3f} (mean of 26 × 13)".replace("-", "−")
    (last,) = (row for row in table if row["row"] == "494 … 511" and row["column"] == "507 … 511")
    assert last["value"] == "−∞"
    (mixed,) = (row for row in table if row["row"] == "0 … 25" and row["column"] == "494 … 506")
    seen = values[:26, 494:500].mean()
    assert mixed["value"].startswith(f"{seen:.3f}".replace("-", "−"))


def test_what_averaging_loses_is_told_in_numbers(opened, translator: Translator) -> None:
    trace = translator.trace(SENTENCE)
    app = opened(figure2_view=ONE_HEAD, kind="encoder", layer="2", head="1")
    weights = trace.encoder_self[1].astype(float)
    bits = [
        float(-(x * np.log2(np.where(x > 0, x, 1))).sum(-1).mean())
        for x in (weights.mean(0), weights)
    ]
    text = " ".join(element.value for element in app.markdown)
    assert f"entropy is {bits[0]:.2f} bits, that of the patterns {bits[1]:.2f}" in text
    with translator.model.hooks(average_heads("encoder_self", [1])):
        averaged = translator.score(SENTENCE, [p.text for p in trace.target_pieces]).log_prob
    before = float(trace.log_probs.sum())
    shown = app.subheader[1].value.replace("−", "-")
    assert f"{before:.2f} → {averaged:.2f}" in shown
    tokens, d = len(trace.source_tokens), 32
    operations = 4 * tokens * d * d + 2 * tokens**2 * d
    parameters = 6 * 4 * d * d  # two layers of each kind
    assert text.count(f"{parameters:,} parameters") == text.count(f"{operations:,} multip") == 2


def test_the_number_of_hidden_squares_is_that_of_the_mask(opened, translator: Translator) -> None:
    steps = len(translator.trace(SENTENCE).target_tokens)
    for kind, about in (
        ("decoder", f"−∞ in {steps * (steps - 1) // 2} squares"),
        ("encoder", "hides nothing"),
    ):
        app = opened(kind=kind)
        (words,) = (frame for frame in frames(app) if "text" in frame)
        assert about in [*words["text"]]
