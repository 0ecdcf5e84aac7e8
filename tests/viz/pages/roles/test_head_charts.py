"""A click on a chart of heads opens its head, and nothing else that a browser sends does."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from transformer.analysis.heads.head import Head
from viz.figures.head_scatter import PICKED
from viz.pages.roles import head_charts as module
from viz.pages.roles.head_charts import clicked_head, draw_clickable


def test_layer_and_head_within_the_model_and_nothing_else() -> None:
    def clicked(value: object) -> object:
        return clicked_head({"selection": {PICKED: value}}, (2, 4))

    assert clicked([{"layer": 1, "head": 3}]) == (1, 3)
    wrong: list[object] = ["x", None, [], [3], [{}]]
    wrong += [[{"layer": layer, "head": 0}] for layer in (2, -1, "1", True)]
    assert [clicked(value) for value in wrong] == [None] * len(wrong)
    assert clicked_head(None, (2, 4)) is None


def test_a_click_opens_its_head_and_one_beside_the_cells_none(monkeypatch) -> None:
    drawn: dict[str, Any] = {}
    opened: list[Head] = []
    monkeypatch.setattr(module, "altair_chart", lambda _, **settings: drawn.update(settings))
    monkeypatch.setattr(module, "open_head", opened.append)
    keys = []
    for head in (Head("cross", 0, 1), Head("cross", 1, 1), Head("encoder_self", 0, 1)):
        draw_clickable(alt.Chart(pd.DataFrame()), "heads", "cross", head, (2, 4), "")
        keys.append(drawn["key"])
    # each open head has a key of its own, so that a second click on it is a new selection
    assert len(set(keys)) == 3
    for points in ([{"layer": 1, "head": 2}], []):
        monkeypatch.setattr(st, "session_state", {keys[-1]: {"selection": {PICKED: points}}})
        drawn["on_select"]()
    assert opened == [Head("cross", 1, 2)]
