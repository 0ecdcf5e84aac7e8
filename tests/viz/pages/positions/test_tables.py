"""The views of the formula for any size, and a learned table beside the sinusoids."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import texts
from tests.viz.pages.positions.conftest import picture
from tests.viz.pages.reading import metrics
from tests.viz.plotly_values import map_values
from transformer.embedding import sinusoidal_positions
from transformer.paper import positions
from transformer.paper.positions import TABLE, learned_positions
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


def test_the_wavelengths_are_the_papers(opened) -> None:
    result = metrics(opened("Curves", pe_width="512"))
    assert result["First pair, i = 0"] == f"{2 * math.pi:.2f}" == "6.28"
    last = 2 * math.pi * 10_000 ** (510 / 512)
    assert result["Last pair, i = 255"] == f"{last:,.2f}" == "60,611.48"
    assert result["10000 · 2π, which no pair reaches"] == "62,831.85"


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


def test_the_similarity_says_how_far_it_is_from_the_formula(opened) -> None:
    app = opened("Similarity", pe_length="20", pe_width="32")
    (shown,) = metrics(app).values()
    table = sinusoidal_positions(20, 32).double().numpy()
    distances = np.arange(20)[None] - np.arange(20)[:, None]
    formula = positions.similarity(distances.ravel(), 32).reshape(20, 20)
    digits, power = f"{np.abs(table @ table.T - formula).max():.1e}".split("e-0")
    assert shown == f"{digits} · 10⁻{'⁰¹²³⁴⁵⁶⁷⁸⁹'[int(power)]}"


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


def test_a_learned_table_stands_beside_the_sinusoids(opened, monkeypatch, tmp_path: Path) -> None:
    rows(tmp_path / "rows")
    monkeypatch.setattr(positions_learned, "ROWS", tmp_path / "rows")
    path = tmp_path / "rows" / "learned" / TABLE
    trained_anew = path.read_bytes()
    earlier = torch.rand(40, 8, generator=torch.Generator().manual_seed(2))
    safetensors.torch.save_file({"encoder": earlier, "decoder": earlier.clone()}, path)
    app = opened("Learned", pe_stack="decoder")
    path.write_bytes(trained_anew)
    app.run()
    table = learned_positions(tmp_path / "rows" / "learned").decoder
    lengths = np.linalg.norm(table, axis=1)
    expected = table @ table.T / lengths / lengths[:, None]
    np.testing.assert_allclose(map_values(picture(app), 1), expected, atol=1e-5)
    assert list(metrics(app).values()) == ["13.5 · 4.50", "27.5 · 4.50"]
    (message,) = [text for text in texts(app) if "In the paper" in text]
    assert "BLEU 25.8 with sinusoids and 25.7 with learned positions" in message
    assert "after 100,000 steps" in message
    assert "had 800 steps: the 14.0 BLEU between them" in message


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


def test_the_misprint_of_the_notes_leaves_one_pair_that_moves(opened) -> None:
    app = opened("Encoding", pe_formula="misprint", pe_length="40", pe_width="8")
    drawn = np.asarray(map_values(picture(app)))  # [dimension, position]
    for dimension, pos in np.ndindex(8, 40):
        angle = pos / 10_000.0 ** (2 * (dimension // 2)) / 8
        expected = math.cos(angle) if dimension % 2 else math.sin(angle)
        assert drawn[dimension, pos] == pytest.approx(expected, abs=1e-6)
    assert np.ptp(drawn[:2], axis=1).min() > 0.9
    assert np.ptp(drawn[2:], axis=1).max() < 1e-6
    result = metrics(opened("Curves", pe_formula="misprint", pe_width="512"))
    assert result["First pair, i = 0"] == f"{2 * math.pi * 512:,.2f}"
    assert result["Last pair, i = 255"] == "∞"


def test_the_papers_formula_is_the_table_of_the_model(opened) -> None:
    app = opened("Encoding", pe_length="40", pe_width="8")
    np.testing.assert_allclose(
        map_values(picture(app)), sinusoidal_positions(40, 8).numpy().T, atol=1e-6
    )
