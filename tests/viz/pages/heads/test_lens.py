"""The lens of the Heads page: what is drawn is what the lens says, in words too."""

from typing import Any

import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from tests.viz.draw.message import decode
from transformer.analysis.lenses import lens_trace
from viz.pages.heads import controls

SENTENCE = "The dog sleeps in the garden."

pytestmark = pytest.mark.usefixtures("given_translations")


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
