"""Figure 2: what a click chooses, a model of one head, and matrices of many rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st

from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE
from transformer import Tokenizer, Transformer, TransformerConfig, Translator
from transformer.analysis.heads.head import Head
from transformer.checkpoints import checkpoint
from viz.app.chrome import charts
from viz.figures.figure2 import Panel, drawing
from viz.figures.head_scatter import PICKED
from viz.pages.figure2 import matrices


def test_a_click_opens_a_matrix_or_a_head_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, translator: Translator
) -> None:
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(charts, "altair_chart", lambda _, **settings: drawn.update(settings))
    matrices.draw(translator.trace(SENTENCE), {}, "one", Head("cross", 1, 0), "")
    for name, chosen in (
        ("scaled", {matrices.OPEN: "scaled"}),
        ("3", {"layer": "2", "head": "4"}),
        *((name, {}) for name in ("4", "-1", "x", "", ["Q"], None, 3)),
    ):
        state: dict[str, Any] = {drawn["key"]: {"selection": {PICKED: [{"name": name}]}}}
        monkeypatch.setattr(st, "session_state", state)
        drawn["on_select"]()
        assert {key: state[key] for key in state if key != drawn["key"]} == chosen


def test_one_head_has_nothing_to_average(opened, tokenizer: Tokenizer, tmp_path: Path) -> None:
    config = TransformerConfig(vocab_size=tokenizer.vocab_size, N=2, d_model=16, d_ff=8, h=1)
    checkpoint.save(tmp_path / "model", Transformer(config).eval(), tokenizer)
    url = {"text": "Dog.", "beam": "1", "figure2_view": "one head instead of h"}
    app = opened(checkpoint=tmp_path / "model", **url)
    assert texts(app)[-1].startswith("This model has one head")


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
