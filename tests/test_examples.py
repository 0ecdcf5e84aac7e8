"""The notebooks in examples/ run as they stand, in an empty folder."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

NOTEBOOKS = sorted(Path(__file__).parents[1].glob("examples/*.ipynb"))
ELSEWHERE = {"transformers.ipynb"}
"""Notebooks that need the extra bench: `python -m benchmarks notebook` runs them."""


def cells(path):
    all_cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in all_cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize(
    "path",
    [path for path in NOTEBOOKS if path.name not in ELSEWHERE or find_spec("transformers")],
    ids=lambda path: path.name,
)
def test_every_cell_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    namespace: dict = {"__name__": "__main__"}
    for number, cell in enumerate(cells(path), start=1):
        exec(
            compile("".join(cell["source"]), f"{path.name}, code cell {number}", "exec"), namespace
        )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_no_output_is_stored(path):
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells(path))
