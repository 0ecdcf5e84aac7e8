"""A learned table beside the sinusoids."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from tests.viz.app_test import texts
from tests.viz.pages.positions.reading import BOTH, metrics, picture
from tests.viz.plotly_values import map_values
from transformer.analysis.paper.positions import TABLE, learned_positions
from transformer.embedding import sinusoidal_positions
from viz.pages.positions import learned as positions_learned


def rows(folder: Path) -> None:
    """Two twins as their training leaves them."""
    from transformer.files.installed import BUNDLED

    table = torch.randn(40, 8, generator=torch.Generator().manual_seed(1))
    for name in ("sinusoidal", "learned"):
        (folder / name).mkdir(parents=True)
        shutil.copy(BUNDLED / "config.json", folder / name)
        (folder / name / "run.jsonl").write_text(
            '{"step": 0, "parameters": 5}\n{"step": 800, "validation_loss": 1.5, '
            f'"validation_perplexity": 4.5, "validation_bleu": 3{len(name)}.06}}\n'
        )
    tables = {"encoder": table, "decoder": -2 * table.flip(0).clone()}
    safetensors.torch.save_file(tables, folder / "learned" / TABLE)


@pytest.mark.parametrize("stack", BOTH)
def test_a_learned_table_stands_beside_the_sinusoids(
    opened, monkeypatch, tmp_path: Path, stack: str
) -> None:
    rows(tmp_path / "rows")
    monkeypatch.setattr(positions_learned, "ROWS", tmp_path / "rows")
    path = tmp_path / "rows" / "learned" / TABLE
    trained_anew = path.read_bytes()
    earlier = torch.rand(40, 8, generator=torch.Generator().manual_seed(2))
    safetensors.torch.save_file({"encoder": earlier, "decoder": earlier.clone()}, path)
    app = opened("Learned", pe_stack=stack)
    path.write_bytes(trained_anew)
    app.run()
    table = getattr(learned_positions(tmp_path / "rows" / "learned"), stack)
    waves = sinusoidal_positions(40, 8).numpy()
    for number, one in enumerate((waves, table)):
        lengths = np.linalg.norm(one, axis=1)
        expected = one @ one.T / lengths / lengths[:, None]
        np.testing.assert_allclose(map_values(picture(app), number), expected, atol=1e-5)
    assert list(metrics(app).values()) == ["310.1 · 4.50", "37.1 · 4.50"]
    (said,) = [text for text in texts(app) if "In the paper" in text]
    assert "BLEU 25.8 with sinusoids and 25.7 with learned positions" in said
    assert "after 100,000 steps" in said
    assert "had 800 steps: the 273.0 BLEU between them" in said


def test_without_the_learned_table_one_sentence(opened, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(positions_learned, "ROWS", tmp_path)
    said = texts(opened("Learned"))[-1]
    assert said.startswith("There are no learned positions: ")
    assert said.endswith("is missing; copy the folder again.")
    rows(tmp_path / "rows")
    monkeypatch.setattr(positions_learned, "ROWS", tmp_path / "rows")
    (tmp_path / "rows" / "sinusoidal" / "run.jsonl").write_text("nonsense\n")
    app = opened("Learned")
    assert any("sinusoidal" in text and text.endswith(".") for text in texts(app))
    assert list(metrics(app)) == ["learned · BLEU and perplexity, validation"]
