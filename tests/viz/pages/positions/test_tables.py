"""The views of the formula for any size, and a learned table beside the sinusoids."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import texts
from tests.viz.pages.reading import metrics
from transformer.paper.positions import TABLE
from viz.pages.positions import tables as positions_learned


def specs(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


@pytest.mark.parametrize("view", ["Encoding", "Rotation"])
def test_an_odd_width_gets_one_sentence_and_the_controls_stay(opened, view: str) -> None:
    app = opened(view, pe_width="511")
    assert texts(app)[-1].startswith("A width of 511 leaves a sine without its cosine: choose")
    assert not app.get("plotly_chart")
    app.number_input(key="pe_width").set_value(64).run()
    assert not any("cosine" in text for text in texts(app))


def test_the_chosen_dimensions_are_the_curves(opened) -> None:
    app = opened("Curves", pe_width="32")
    # of the first choice only these are dimensions of so narrow a model
    assert [text for text in texts(app) if "no dimension" in text] == [
        f"A width of 32 has no dimension “\u2068{n}\u2069”: choose from 0 to 31."
        for n in (64, 128, 129)
    ]
    app.multiselect(key="pe_dimensions").set_value(["31", "<b>", "2", "02"]).run()
    curves, _ = specs(app)
    names = curves["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert [name.split(":")[0] for name in names] == ["31", "2"]
    assert sum("has no dimension" in text for text in texts(app)) == 1
    app.multiselect(key="pe_dimensions").set_value(["²"]).run()
    assert texts(app)[-1] == "There is no curve yet: choose a dimension."


def rows(folder: Path) -> None:
    """Two twins as their training leaves them."""
    from transformer.files.installed import BUNDLED

    table = torch.randn(40, 8, generator=torch.Generator().manual_seed(1))
    for name, bleu in {"sinusoidal": 13.53, "learned": 27.47}.items():
        (folder / name).mkdir(parents=True)
        shutil.copy(BUNDLED / "config.json", folder / name)
        (folder / name / "run.jsonl").write_text(
            '{"step": 0, "parameters": 5}\n{"step": 800, "validation_loss": 1.5, '
            f'"validation_perplexity": 4.5, "validation_bleu": {bleu}}}\n'
        )
    tables = {"encoder": table, "decoder": -2 * table.flip(0).clone()}
    safetensors.torch.save_file(tables, folder / "learned" / TABLE)


def test_without_the_learned_table_one_sentence(opened, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(positions_learned, "ROWS", tmp_path)
    message = texts(opened("Learned"))[-1]
    assert message.startswith("There are no learned positions: ")
    assert message.endswith("is missing; copy the folder again.")
    rows(tmp_path / "rows")
    monkeypatch.setattr(positions_learned, "ROWS", tmp_path / "rows")
    (tmp_path / "rows" / "sinusoidal" / "run.jsonl").write_text("nonsense\n")
    app = opened("Learned")
    assert any("sinusoidal" in text and text.endswith(".") for text in texts(app))
    assert list(metrics(app)) == ["learned · BLEU and perplexity, validation"]
