"""What `head_grid` answers, run by Streamlit without a browser."""

import pytest
from streamlit.testing.v1 import AppTest

from viz.components.grid import _is_head

SCRIPT = """
import numpy as np
import streamlit as st
from transformer.trace import Labels
from viz.components import attention_map, head_grid

labels = Labels(("▁a", "▁b"), ("▁c", "▁d"))
weights = np.full((2, 3, 2, 2), 0.5, dtype=np.float32)
selected = head_grid(
    weights, labels, "cross", selected=st.session_state.get("asked", (1, 2)), key="grid"
)
attention_map(weights[selected], labels, "cross", title="t", key="map")
st.text(repr(selected))
"""


def answer(app):
    assert not app.exception
    return app.text[0].value


def test_nothing_clicked_gives_what_was_asked_for():
    assert answer(AppTest.from_string(SCRIPT).run()) == "(1, 2)"


def test_python_moves_the_selection_and_the_same_request_leaves_a_click_alone():
    app = AppTest.from_string(SCRIPT).run()
    app.session_state["asked"] = (0, 1)
    assert answer(app.run()) == "(0, 1)"
    app.session_state["_headlight_grid"] = ((0, 1), (1, 0))  # as a click leaves it
    assert answer(app.run()) == "(1, 0)"
    assert answer(app.run()) == "(1, 0)"
    app.session_state["asked"] = (0, 0)
    assert answer(app.run()) == "(0, 0)"


def test_a_remembered_head_that_the_model_lacks_is_let_go():
    app = AppTest.from_string(SCRIPT).run()
    app.session_state["_headlight_grid"] = ((1, 2), (5, 7))
    assert answer(app.run()) == "(1, 2)"


@pytest.mark.parametrize(
    "sent", [None, [], [0], [0, 3], [-1, 0], [0.0, 1], [True, 1], ["0", "1"], {"0": 1}, "01"]
)
def test_what_a_browser_sends_is_a_head_or_nothing(sent):
    assert not _is_head(sent, layers=2, heads=3)
    assert _is_head([1, 2], layers=2, heads=3)
