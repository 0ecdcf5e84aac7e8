"""Tables 2 and 3, with the rows that were trained here."""

import json
from typing import Any

import pytest

from tests.viz.app_test import texts
from tests.viz.pages.reading import records
from transformer import TransformerConfig
from viz.app import model_variations


def test_the_papers_tables_stand_without_rows_of_ours(opened, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(model_variations.read_all, "__defaults__", (tmp_path,))
    app = opened()
    third, second = (frame.value for frame in app.dataframe)
    assert len(third) == 20
    assert "here" not in third
    assert len(second) == 10
    assert not app.get("vega_lite_chart")


def test_rows_that_were_trained_stand_beside_the_papers(opened, monkeypatch, tmp_path) -> None:
    shape: dict[str, Any] = {"vocab_size": 80, "N": 4, "d_model": 16, "d_ff": 24, "h": 2}
    rows = {"sinusoidal": ({}, 9.0, 28.0), "c-N2": ({"N": 2}, 10.8, 25.5)}
    for name, (change, ppl, bleu) in rows.items():
        folder = tmp_path / name
        folder.mkdir()
        config = TransformerConfig(**{**shape, **change})
        (folder / "config.json").write_text(json.dumps(config.to_dict()))
        last = {"step": 7, "validation_perplexity": ppl, "validation_bleu": bleu}
        lines = [{"step": 0, "parameters": 123_456}, last]
        (folder / "run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.setattr(model_variations.read_all, "__defaults__", (tmp_path,))
    app = opened()
    frame = app.dataframe[0].value
    here = ["here", "PPL here", "BLEU here", "params here"]
    assert frame.loc[0, here].tolist() == ["base", "9.00", "28.0", "0.12 M"]
    assert frame.loc[7, ["", "N", *here]].tolist() == [
        "(C)", "2", "N = 2", "10.80", "25.5", "0.12 M",
    ]  # fmt: skip
    assert (frame[here].to_numpy() != "").sum() == 8
    by_side = {row["whose"]: row for rows in records(app) for row in rows if "whose" in row}
    assert by_side["here"]["bleu"] == pytest.approx(-2.5)
    assert by_side["here"]["perplexity"] == pytest.approx(1.2)
    assert by_side["paper"]["bleu"] == pytest.approx(23.7 - 25.8)
    assert by_side["paper"]["perplexity"] == pytest.approx(6.11 / 4.92)
    assert any("Multi30k" in line and "Compare the differences" in line for line in texts(app))
    assert any(
        "2 models, the base with N = 4, d_model = 16, d_ff = 24, h = 2, each trained" in line
        for line in texts(app)
    )
