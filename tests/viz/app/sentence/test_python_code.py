"""The code below each view runs as it stands, and gives the numbers that the view draws."""

import ast
import re
from collections.abc import Iterator
from inspect import unwrap
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.bundled_model import one_bundled_model
from tests.viz.app.sentence.checks import Check, Values, close, column, same_charts
from tests.viz.app.sentence.paper_checks import (
    functions,
    read_and_edited,
    rescaled,
    work,
)
from tests.viz.pages.reading import blocks, computed, frames, message
from tests.viz.plotly_values import map_values
from transformer.decoding.beam import BeamSearch
from transformer.files.installed import BUNDLED
from viz.app.sentence.python_code import code_block, trace_call

__all__ = ["one_bundled_model"]  # a fixture: used by name
pytestmark = pytest.mark.usefixtures("one_bundled_model", "_short")  # each block loads it


@pytest.fixture(scope="module")
def _short() -> Iterator[None]:
    """Let changed models, whose translations do not end, write some pieces instead of fifty."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(unwrap(BeamSearch.__init__).__kwdefaults__, "max_extra", 4)
        yield


def inside(app: AppTest, values: Values) -> None:
    (walk,) = (value for title, value in values.items() if re.match(r"L\d H\d", title))
    for name in ("scaled", "weights", "z", "normalised"):
        close(getattr(walk, name), message(app, "inside_head")[0]["arrays"][name])
    parts, cells = values["Why here: the score, split"].melt(), frames(app, 0)[0]
    assert [*parts["variable"]] == [*cells["key"]]
    close(parts["value"], cells["value"])
    raised = np.sort(values["What it writes"])
    table = app.table[0].value
    close(raised[::-1][: len(table)], table["up by"].astype(float), 0.006)
    close(-raised[: len(table)], table["down by"].astype(float), 0.006)
    if "Copying score" in values:
        (copying,) = (text.value for text in app.markdown if "Copying score" in text.value)
        assert f"{values['Copying score']:.2f}".replace("-", "−") in copying.replace("\\", "")
    if "Translation" in values:
        assert any(f"{values['Translation'][1]:.2f}"[1:] in h.proto.body for h in app.get("html"))


def forming(app: AppTest, values: Values) -> None:
    meta, _ = message(app, "player")
    (open_head,) = (value for title, value in values.items() if re.match(r"L\d H\d", title))
    cross = meta["trace"]["kinds"][-1]
    layer, head_number = meta["selected"]["cross"]
    close(map_values(open_head), cross["weights"][-1, layer, head_number] / 65_535, 4)
    close(np.ravel(values["confidence, step after step"]), column(app, 0, "value", 0))
    on_sinks = values["Share of attention on sinks, step after step"]
    close(np.ravel(on_sinks), column(app, 1, "share"))


VIEWS: dict[str, tuple[Check, dict[str, str]]] = {
    "inside": (inside, {"layer": "2", "head": "3"}),
    "inside scaled": (
        inside,
        {"scale_of": "none", "kind": "encoder", "score": "one key"},
    ),
    "inside difference": (
        inside,
        {"kind": "cross-attention", "layer": "4", "score": "first key − second", "parts": "layers"},
    ),
    "training": (forming, {}),
    "training curves": (same_charts, {"training_view": "Curves"}),
    "self_attention": (work, {}),
    "additive": (functions, {"kind": "decoder"}),
    "additive scale": (rescaled, {"additive_view": "Scale", "beam": "1"}),
    "hooks": (read_and_edited, {"hook": "z", "head": "3"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
def test_each_block_runs_and_gives_what_the_view_draws(serve, view: str) -> None:
    check, url = VIEWS[view]
    app = serve(view.split()[0], checkpoint=BUNDLED, text="A dog runs.", **url)
    check(app, {title: computed(code) for title, code in blocks(app).items()})


HOSTILE = (
    'He said """no""" and \\n \'it\' {x} \\"; import os # \u2028\x85\u202e\nfrom os import sep'
)


def test_a_typed_text_is_that_text_and_nothing_else() -> None:
    pieces = [SimpleNamespace(text=text) for text in ('▁"""', "\\'", "</s>")]
    trace: Any = SimpleNamespace(source=HOSTILE, target="", target_pieces=pieces)
    code = code_block(f"trace = {trace_call(trace)}", "result = trace")
    assert len(code.splitlines()) == 3
    assert not any(
        isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(ast.parse(code))
    )
    translator = SimpleNamespace(trace=lambda text, target: (text, target))
    exec(code, namespace := {"translator": translator})
    assert namespace["result"] == (HOSTILE, ['▁"""', "\\'", "</s>"])
