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
from viz.pages.positions import tables as positions_learned
from viz.pages.positions.tables import cosine_maps, neighbours_chart


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
    for number, item in enumerate((waves, table)):
        lengths = np.linalg.norm(item, axis=1)
        expected = item @ item.T / lengths / lengths[:, None]
        np.testing.assert_allclose(map_values(picture(app), number), expected, atol=1e-5)
    assert list(metrics(app).values()) == ["310.1 · 4.50", "37.1 · 4.50"]
    (message,) = [text for text in texts(app) if "In the paper" in text]
    assert "BLEU 25.8 with sinusoids and 25.7 with learned positions" in message
    assert "after 100,000 steps" in message
    assert "had 800 steps: the 273.0 BLEU between them" in message


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


MAPS = {
    "sinusoidal": np.array([[1, 0.5], [0.5, 1]]),
    "learned": np.array([[1, -0.25], [-0.25, 1]]),
}


def test_both_tables_are_drawn_on_one_scale_under_their_names() -> None:
    figure = cosine_maps(MAPS)
    for number, (name, cosines) in enumerate(MAPS.items()):
        np.testing.assert_array_equal(map_values(figure, number), cosines)
        assert figure.layout.annotations[number].text == name
        assert (figure.data[number].zmin, figure.data[number].zmax) == (-1, 1)


def test_neighbours_stand_beside_what_chance_gives() -> None:
    lines = {"sinusoidal": np.array([0.9, 0.8]), "learned": np.array([0.7, 0.1])}
    chart = neighbours_chart(lines, 0.1).to_dict()
    band, curves = chart["layer"]
    assert chart["datasets"][band["data"]["name"]] == [{"low": -0.2, "high": 0.2}]
    assert (band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]) == ("low", "high")
    drawn_rows = chart["datasets"][curves["data"]["name"]]
    for name, values in lines.items():
        result = [row for row in drawn_rows if row["table"] == name]
        assert [row["cosine"] for row in result] == list(values)
        assert [row["position"] for row in result] == [0, 1]
