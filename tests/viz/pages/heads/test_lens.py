"""The lens of the Heads page: what is drawn is what the lens says, in words too."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import GIVEN, texts
from tests.viz.draw.message import decode
from transformer import AttentionTrace, Translator
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.measures import head_distances, row_distances
from transformer.analysis.lenses import lens_trace
from viz.draw.caption import LENS_NAMES
from viz.pages.heads import controls

SENTENCE = "The dog sleeps in the garden."

pytestmark = pytest.mark.usefixtures("given_translations")


@pytest.fixture
def trace(translator: Translator) -> AttentionTrace:
    return translator.trace(SENTENCE, target=GIVEN[SENTENCE])


def messages(app: AppTest, component: str) -> list[tuple[dict[str, Any], dict[str, NDArray]]]:
    assert not app.exception
    every = [decode(element.proto.bytes) for element in app.get("bidi_component")]
    return [element for element in every if element[0]["component"] == component]


def title(app: AppTest) -> str:
    text: str = messages(app, "attention_map")[0][0]["title"]
    return text


def test_the_head_rests_under_a_lens_of_whole_layers_and_comes_back(serve) -> None:
    app = serve("heads", text=SENTENCE, kind="cross-attention", layer="2", head="2")
    app.selectbox(key="head").set_value("3").run()
    app.selectbox(key="lens").set_value("ALTI").run()
    assert title(app) == "layer 2 · all heads · cross-attention · ALTI"
    resting = app.selectbox(key="head-resting")
    assert (resting.value, resting.disabled) == ("all heads", True)
    ((grid, _),) = messages(app, "head_grid")
    assert {part["heads"] for part in grid["parts"]} == {1}
    assert "every layer, all heads together" in grid["caption"][1]
    assert "layer 2, all heads together, lens: ALTI." in str(messages(app, "ribbons")[0][0])
    app.selectbox(key="layer").set_value("1").run()
    assert title(app) == "layer 1 · all heads · cross-attention · ALTI"
    app.selectbox(key="lens").set_value("norms").run()
    assert title(app) == "L1 H3 · cross-attention · norms"
    assert app.selectbox(key="head").value == "3"


def test_two_lenses_are_compared_and_the_lists_say_where_they_differ(
    serve, translator: Translator, trace: AttentionTrace
) -> None:
    lenses = {"lens": LENS_NAMES["norm"], "lens2": LENS_NAMES["alti"], "with": "another lens"}
    head = {"kind": "cross-attention", "layer": "2", "head": "3"}
    app = serve("heads", text=SENTENCE, view="compare", **head, **lenses)
    seen = by_pieces(lens_trace("norm", translator, trace), "cross")
    also = by_pieces(lens_trace("alti", translator, trace), "cross")
    distances = head_distances(seen, also, "cross")
    far = np.unravel_index(distances.argmax(), distances.shape)
    button = next(line for line in app.button if str(line.key).startswith("disagreeing-"))
    assert button.label == f"cross-attention L{far[0] + 1} · {distances.max():.2f}"
    rows = row_distances(seen.weights[1, 2], also.weights[1, min(2, also.weights.shape[1] - 1)])
    line = next(text for text in texts(app) if text.startswith("The step that reads"))
    assert f"predicts “\u2068{trace.target_tokens[rows.argmax()].strip('▁')}\u2069”" in line
    assert line.endswith(f": {rows.max():.2f}")
    button.click().run()
    assert app.selectbox(key="layer").value == str(far[0] + 1)


def test_a_lens_is_computed_once(serve, monkeypatch) -> None:
    serve("heads", text=SENTENCE)  # loads the model
    started: list[object] = []

    def noted(*given, **named):
        started.append(given)
        return lens_trace(*given, **named)

    monkeypatch.setattr(controls, "lens_trace", noted)
    app = serve("heads", text=SENTENCE, lens="value zeroing")
    first = len(started)
    assert first > 0
    app.selectbox(key="layer").set_value("1").run()
    assert len(started) == first
