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
from tests.viz.app.sentence.checks import Check, Values, close, column, shown
from tests.viz.draw.message import decode
from tests.viz.pages.reading import blocks, computed, frames, message, metrics
from tests.viz.plotly_values import map_values
from transformer.decoding.beam import BeamSearch
from transformer.files.installed import BUNDLED
from viz.app.links.navigation import LAYERS, REMOVE_HEADS, WHY
from viz.app.sentence.python_code import code_block, trace_call
from viz.draw.labels import role_name
from viz.pages.roles import edges

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


def head(app: AppTest, values: Values) -> None:
    open_map(app, values)
    entropy = values["Entropy, largest weight, offset"].entropy
    assert metrics(app)["Entropy"] == f"{entropy:.2f} bits"
    if "Words under the maps" in values:  # a step has the words of its own rows
        named = message(app, "head_grid")[0]["parts"][0]["roles"]
        roles = values["Words under the maps"]
        assert [[*map(bool, layer)] for layer in roles] == [[*map(bool, layer)] for layer in named]


def compared(app: AppTest, values: Values) -> None:
    pictures = [decode(element.proto.bytes) for element in app.get("bidi_component")]
    maps = [
        arrays["weights"] for plain, arrays in pictures if plain["component"] == "attention_map"
    ]
    titles = [title for title in values if re.match(r"L\d H\d", title)]
    for title, weights in zip(titles, maps, strict=False):
        close(map_values(values[title]), weights)
    if "First minus second" in values:
        close(values["First minus second"], maps[2])
        largest = values["Where the two lenses disagree most"].max()
        assert any(button.label.endswith(f"· {largest:.2f}") for button in app.button)


def corpus_roles(app: AppTest, values: Values) -> None:
    measured = values["Every measure"]
    shown_table = app.table[0].value
    names = [role_name(name, "cross") for name in measured]
    assert shown_table["measure"].tolist() == names
    for (_, distance), button in zip(
        [
            *values["Heads like this one, by these measures"],
            *values["Heads like this one, by where they look in this sentence"],
        ],
        [button for button in app.button if str(button.key).startswith("similar-")],
        strict=True,
    ):
        assert button.label.endswith(f" {distance:.2f}")


def removal(app: AppTest, values: Values) -> None:
    (maps,) = (value for title, value in values.items() if title.endswith("before and after"))
    close(maps[1], shown(app, "attention_map", "weights"))
    before, after = values["The original translation, word by word"]
    words = frames(app, 0)[0]
    close([before, after], [words["before"], words["with heads removed"]])
    largest = max(kind.max() for kind in values["Where attention changed most"].values())
    assert any(button.label.endswith(f" {largest:.2f}") for button in app.button)
    curve = values["Remove by importance"]
    points = next(iter(curve.values())).points
    close([point.bleu.value for point in points], column(app, 1, "value", 0))


def why(app: AppTest, values: Values) -> None:
    gradient, erased, heads, own, patched = values.values()
    for chart, drawn in enumerate((gradient, erased, own, *heads.values())):
        close(drawn.ravel(), frames(app, chart)[drawn.ndim == 1]["value"])
    table = app.dataframe[0].value
    close(patched.attributed, table[edges.ATTRIBUTED])
    close(patched.lost, table[edges.PATCHED])
    assert patched.hold.tolist() == table[edges.HOLDS].tolist()


def layers(app: AppTest, values: Values) -> None:
    table, parts, by_head, shares, norms, readings = values.values()
    tops = [
        html.proto.body
        for html in app.get("html")
        if "What each layer would write" in html.proto.body
    ]
    assert f"{table.written[-1, -1]:.2f}" in tops[0]
    close([*parts.values()], column(app, 0, "value")[:-1])
    for chart, heads in enumerate(by_head.values(), start=1):
        close(heads.ravel(), column(app, chart, "value"))
    close(shares.T.ravel(), column(app, 3, "share"))
    for chart, drawn in enumerate(norms.values(), start=4):
        close(drawn.norms.ravel(), column(app, chart, "norm"))
        close(drawn.received.ravel(), column(app, chart, "received"))
    assert len(readings) == 7


VIEWS: dict[str, tuple[Check, dict[str, str]]] = {
    "translate": (translate, {"where_from": "true"}),
    "translate almost": (translate_more, {"translate_view": "Almost written"}),
    "translate others": (translate_more, {"translate_view": "Runners-up"}),
    "translate compare": (translate_more, {"versus": "greedy search"}),
    "translate steered": (
        open_map,
        {"without_sinks": "true", "beam": "2", "prefix": "▁Ein", "map_head": "mean"},
    ),
    "heads": (head, {"layer": "2", "head": "3", "lens": "norms", "words": "true"}),
    "heads lenses": (compared, {"view": "compare", "with": "another lens"}),
    "heads sentences": (compared, {"view": "compare", "with": "another sentence"}),
    "roles": (corpus_roles, {}),
    "roles removed": (
        removal,
        {"roles_view": REMOVE_HEADS, "removed": "L2 H4 cross,L1 H1 encoder uniform", "beam": "1"},
    ),
    "roles why": (why, {"roles_view": WHY, "patch_edges": "true"}),
    "roles layers": (layers, {"roles_view": LAYERS, "written": "3", "beam": "1"}),
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


def test_another_model_is_loaded_by_its_folder_alone(serve, trained_folder, monkeypatch) -> None:
    monkeypatch.chdir(trained_folder.parent)
    app = serve("heads", text="The dog sleeps in the garden.", lens="norms", head="2")
    code = blocks(app)
    for text in code.values():
        assert f"Translator.load({trained_folder.name!r})" in text
        assert str(trained_folder.parent) not in text
    head(app, {title: computed(text) for title, text in code.items()})
