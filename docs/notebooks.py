"""Run the notebooks of examples/, and store what their outputs show without scripts.

`make notebooks` calls this. GitHub, nbviewer, LaTeX and Quarto show the stored pictures; a
notebook that is run has its interactive pages instead.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "examples"
MAX_BYTES = 2_000_000  # largest size of a stored notebook


def store(path: Path) -> None:
    """Run a notebook in an empty folder, and keep only the picture of an output that has one."""
    notebook: Any = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        NotebookClient(notebook, resources=place, record_timing=False).execute()
    notebook.metadata.language_info = {"name": "python"}  # not the version that is here
    for cell in notebook.cells:
        if cell.cell_type == "code":  # warnings name folders of this machine
            cell.outputs = [part for part in cell.outputs if part.get("name") != "stderr"]
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output.data = {"image/png": output.data["image/png"]}
                output.metadata = {"image/png": output.metadata["image/png"]}
    text = nbformat.writes(notebook) + "\n"
    if len(text.encode()) > MAX_BYTES:
        raise SystemExit(f"{path.name} would have {len(text) / 1e6:.1f} MB: show less in a cell.")
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(map(str, FOLDER.glob("*.ipynb"))):
        store(Path(name))
