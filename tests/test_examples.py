"""The notebooks in examples/ run as they stand, from wherever Jupyter was started."""

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(ROOT.glob("examples/*.ipynb"))


def cells(path, kind):
    all_cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in all_cells if cell["cell_type"] == kind]


@pytest.mark.parametrize("folder", [ROOT, ROOT / "examples"], ids=["root", "examples"])
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.name for path in NOTEBOOKS])
def test_every_cell_runs(path, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    namespace: dict = {"__name__": "__main__"}
    for number, cell in enumerate(cells(path, "code"), start=1):
        exec(
            compile("".join(cell["source"]), f"{path.name}, code cell {number}", "exec"), namespace
        )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.name for path in NOTEBOOKS])
def test_no_output_is_stored(path):
    assert all(
        not cell["outputs"] and cell["execution_count"] is None for cell in cells(path, "code")
    )


def test_there_are_notebooks():
    assert NOTEBOOKS
