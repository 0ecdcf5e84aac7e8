"""The code below each view runs as it stands, and gives the numbers that the view draws."""

import ast
import re
from collections.abc import Iterator
from inspect import unwrap
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.bundled_model import one_bundled_model
from tests.viz.app.sentence.checks import Check, Values, close, shown
from tests.viz.pages.reading import blocks, computed, message
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


def translate(app: AppTest, values: Values) -> None:
    links = message(app, "word_links")[0]["links"]
    pairs = values["Which words belong together"]
    drawn_ends = [(link["source"], link["target"]) for link in links if link["mutual"]]
    close([pair[:2] for pair in pairs], drawn_ends)
    nodes = values["What the beam search considered"].nodes
    drawn_nodes = message(app, "beam_tree")[0]["nodes"]
    close([node.log_prob for node in nodes], [node["log_prob"] for node in drawn_nodes])


def translate_more(app: AppTest, values: Values) -> None:
    if "What the model almost wrote" in values:
        almost_written(app, values["What the model almost wrote"])
    scores = [*values.get("Runner-up translations", ())]
    scores += [values[title] for title in values if title == "The other decoding"]
    drawn = " ".join(html.proto.body for html in app.get("html"))
    for _, log_prob in scores:
        assert f"log probability {log_prob:.2f}".replace("-", "−") in drawn
    assert scores or "What the model almost wrote" in values


def almost_written(app: AppTest, alternatives: Any) -> None:
    others = [[other.probability for other in step] for step in alternatives]
    steps = message(app, "step_bars")[0]["steps"]
    close(others, [[option["p"] for option in step[1:]] for step in steps])


def open_map(app: AppTest, values: Values) -> None:
    (figure,) = (value for title, value in values.items() if re.match(r"L\d H\d|Subword", title))
    close(map_values(figure), shown(app, "attention_map", "weights"))


VIEWS: dict[str, tuple[Check, dict[str, str]]] = {
    "translate": (translate, {"where_from": "true"}),
    "translate almost": (translate_more, {"translate_view": "Almost written"}),
    "translate others": (translate_more, {"translate_view": "Runners-up"}),
    "translate compare": (translate_more, {"versus": "greedy search"}),
    "translate steered": (
        open_map,
        {"without_sinks": "true", "beam": "2", "prefix": "▁Ein", "map_head": "mean"},
    ),
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
