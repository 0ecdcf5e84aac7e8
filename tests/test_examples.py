"""The notebooks in examples/ run as they stand, in an empty folder, and show what is stored.

`make notebooks` renews what is stored.
"""

import ast
import base64
import io
import json
import re
from importlib.util import find_spec
from pathlib import Path

import altair as alt
import pandas as pd
import plotly.graph_objects as go
import pytest
from PIL import Image

from transformer import AttentionTrace
from viz.notebook import HtmlFrame

NOTEBOOKS = sorted(Path(__file__).parents[1].glob("examples/*.ipynb"))
ELSEWHERE = {"transformers.ipynb"}
"""Notebooks that need the extra bench: `python -m benchmarks notebook` runs them."""

SHOWN = (AttentionTrace, HtmlFrame, alt.TopLevelMixin, go.Figure)
NUMBER = re.compile(r"-?\d+\.\d*(?:e-?\d+)?")


def cells(path):
    all_cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in all_cells if cell["cell_type"] == "code"]


def run(source, name, namespace):
    """Run a cell; return its last value."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), name, "exec"), namespace)
    return last and eval(compile(ast.Expression(last.value), name, "eval"), namespace)


def stored_texts(cell):
    """Return what a cell printed and the text of its value, on one line each."""
    printed = "".join("".join(part.get("text", ())) for part in cell["outputs"])
    values = [part["data"].get("text/plain", ()) for part in cell["outputs"] if "data" in part]
    return [" ".join(text.split()) for text in (printed, "".join(map("".join, values)))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [path for path in NOTEBOOKS if path.name not in ELSEWHERE or find_spec("transformers")],
    ids=lambda path: path.name,
)
def test_every_cell_runs_and_shows_what_is_stored(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    namespace: dict = {"__name__": "__main__"}
    for number, cell in enumerate(cells(path), start=1):
        name = f"{path.name}, code cell {number}"
        with pd.option_context("display.max_columns", 20, "display.width", 80):
            value = run("".join(cell["source"]), name, namespace)
            shown = "" if value is None or isinstance(value, SHOWN) else repr(value)
        pictures = ["image/png" in part.get("data", ()) for part in cell["outputs"]]
        assert any(pictures) == isinstance(value, SHOWN), name
        printed = capsys.readouterr().out
        for new, old in zip((printed, shown), stored_texts(cell), strict=True):
            text = " ".join(new.split())
            assert NUMBER.sub("#", text) == NUMBER.sub("#", old), name
            numbers = [[*map(float, NUMBER.findall(either))] for either in (text, old)]
            # another processor may round otherwise
            assert numbers[0] == pytest.approx(numbers[1], rel=1e-3, abs=1e-6), name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_what_is_stored_is_small_and_of_no_machine(path):
    assert path.stat().st_size <= 2_000_000
    every = cells(path)
    assert [cell["execution_count"] for cell in every] == [*range(1, len(every) + 1)]
    for output in (output for cell in every for output in cell["outputs"]):
        assert output["output_type"] in ("stream", "display_data", "execute_result")
        if png := output.get("data", {}).pop("image/png", None):
            width, height = Image.open(io.BytesIO(base64.b64decode(png))).size
            size = output["metadata"]["image/png"]
            assert (width, height) == (2 * size["width"], 2 * size["height"])
            assert len(png) <= 200_000
            assert not output["data"], "a page is no use where a picture is shown"
        text = json.dumps(output)
        assert not re.search(
            r"(?i)/(home|root|tmp|work|users|usr|opt|var)/|[a-z]:\\\\| at 0x", text
        )
        assert "<script" not in text
        assert "<iframe" not in text
