"""Charts that are drawn from a remembered specification."""

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any
from xml.etree import ElementTree

import altair as alt
import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from vl_convert import vegalite_to_svg

from transformer.analysis.heads.head import Head
from viz.app.chrome import charts
from viz.app.chrome.charts import clicked_head, spec_of
from viz.figures.axes import named_color, word_axis
from viz.figures.head_scatter import PICKED
from viz.pages.roles.head_charts import grid_key

COLORS = {"if": "teal", "as": "gray"}


def script() -> None:
    import streamlit as st

    from viz.app.chrome.charts import altair_chart

    altair_chart(st.session_state["spec"], key="chart", alt="A line.")


def test_rows_are_those_of_altair_without_what_json_lacks() -> None:
    table = pd.DataFrame({
        "n": [0, 2], "x": [0.5, float("inf")], "on": [True, False], "word": ["a", None],
        "list": [np.arange(2), (1,)], "when": pd.to_datetime(["2026-11-30", "2026-12-01"]),
    })  # fmt: skip
    plain = table.drop(columns=["word", "when"])
    assert charts.rows_of(plain) == alt.to_values(plain)
    assert charts.rows_of(table[["word"]]) == {"values": [{"word": "a"}, {"word": None}]}
    assert charts.rows_of(table[["when"]]) == alt.to_values(table[["when"]])
    rows = charts.rows_of(table.assign(x=np.float32(0.5), n=np.int64(1)))["values"]
    assert json.dumps(rows, default=str)


def test_a_spec_has_the_theme_and_its_data_and_stays_as_it_is() -> None:
    rows = range(5_001)  # more than Altair takes by itself
    spec = spec_of(alt.Chart(pd.DataFrame({"a": rows})).mark_line().encode(x="a:Q"))
    before = deepcopy(spec)
    (table,) = spec["datasets"].values()
    assert [row["a"] for row in table] == list(rows)
    app = AppTest.from_function(script)
    app.session_state["spec"] = spec
    app.run()
    assert not app.exception
    drawn = app.get("vega_lite_chart")[0].proto
    axis = json.loads(drawn.spec)["config"]["axis"]
    assert axis == charts.chart_theme()["config"]["axis"]
    assert (len(drawn.datasets), drawn.alt, spec) == (1, "A line.", before)


def saved_script() -> None:
    import pandas as pd
    import plotly.graph_objects as go

    from viz.app.chrome.charts import altair_chart, plotly_chart, spec_of

    import altair as alt  # isort: skip

    line = alt.Chart(pd.DataFrame({"a": [1]})).mark_line().encode(x="a:Q")
    altair_chart(spec_of(line), key="one", alt="A line.", title="L2 H5 · encoder")
    plotly_chart(go.Figure(), key="positions-decoder", alt="Nothing.")


def test_a_saved_chart_says_what_it_shows() -> None:
    app = AppTest.from_function(saved_script).run()
    assert not app.exception
    spec = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    assert spec["title"] == "L2 H5 · encoder"
    config = json.loads(app.get("plotly_chart")[0].proto.config)
    assert config["toImageButtonOptions"]["filename"] == "headlight-positions-decoder"


def test_letters_grow_where_the_page_is_presented_and_data_stay() -> None:
    table = pd.DataFrame({"step": [1, 2], "b": [3.0, 4.0]})
    words = alt.Chart(table).mark_text(fontSize=10).encode(x="step:Q", y="b:Q")
    spec = spec_of(words.properties(height=100))
    before = deepcopy(spec)
    app = AppTest.from_function(script)
    app.session_state["spec"] = spec
    app.query_params["present"] = "1"
    app.run()
    assert not app.exception
    drawn = app.get("vega_lite_chart")[0].proto
    grown, large = json.loads(drawn.spec), charts.ENLARGED
    assert grown["mark"]["fontSize"] == 10 * large
    assert grown["height"] == 100 * large
    axis = {"labelFontSize": 13 * large, "titleFontSize": 13 * large}
    assert grown["config"]["axis"] == charts.chart_theme()["config"]["axis"] | axis
    assert charts.enlarged(spec)["datasets"] == before["datasets"]
    assert spec == before


@pytest.mark.parametrize("present", ["", "1"])
def test_a_step_for_each_row_is_a_height_that_vega_need_not_fit(present: str) -> None:
    table = pd.DataFrame({"layer": [1, 2, 2, 3], "from": [0, 4, 4, 0], "x": [0.0, 1.0, 2.0, 3.0]})
    base = alt.Chart(table).encode(x="x:Q")
    nested = base.mark_rect().encode(y="layer:O") + base.mark_text()
    rules = base.mark_rule().encode(y="from:O", y2="layer:O")
    spec = spec_of(alt.LayerChart(layer=[nested, rules], height=alt.Step(20)))
    before = deepcopy(spec)
    app = AppTest.from_function(script)
    app.session_state["spec"] = spec
    if present:
        app.query_params["present"] = present
    app.run()
    assert not app.exception
    drawn = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    assert drawn["height"] == 20 * len({0, 1, 2, 3, 4}) * (charts.ENLARGED if present else 1)
    assert drawn["autosize"] == {"type": "fit-x", "contains": "padding"}
    assert spec == before


def test_the_word_if_is_text_on_every_chart() -> None:
    table = pd.DataFrame({"place": [0, 1], "word": ["as", "if"], "weight": [0.25, 0.75]})
    bars = alt.Chart(table).mark_bar()
    words = bars.encode(word_axis(table["word"].tolist()), y="weight:Q")
    sorted_words = alt.Y("word:N", sort=["if", "as"])
    named = bars.encode(alt.X("weight:Q", title="if"), sorted_words, named_color("word", COLORS))
    for spec in (words.to_dict(), spec_of(words), spec_of(named)):
        drawn = ElementTree.fromstring(vegalite_to_svg(spec)).itertext()
        assert {"as", "if"} <= {text.strip("\u2060") for text in drawn}


GRID = [Head("cross", layer, head) for layer in range(2) for head in range(4)]


def test_a_click_is_a_head_of_the_chart_and_nothing_else_that_a_browser_sends() -> None:
    def clicked(value: object, heads: Sequence[Head] = GRID) -> Head | None:
        return clicked_head({"selection": {PICKED: value}}, heads)

    assert clicked([{"layer": 1, "head": 3}]) == ("cross", 1, 3)
    both = [*GRID, Head("decoder_self", 1, 3)]
    for kind in ("cross", "decoder_self"):
        point = {"kind": kind, "layer": 1, "head": 3}
        assert clicked([point], both) == (kind, 1, 3)
    wrong: list[object] = ["x", None, [], [3], [{}], [{"kind": "x", "layer": 0, "head": 0}]]
    layers: list[object] = [2, -1, "1", True, []]
    wrong += [[{"layer": layer, "head": 0}] for layer in layers]
    assert [clicked(value) for value in wrong] == [None] * len(wrong)
    assert clicked_head(None, GRID) is clicked_head({"selection": 3}, GRID) is None


def test_a_click_opens_its_head_and_one_beside_the_cells_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: dict[str, Any] = {}
    opened: list[Head] = []
    monkeypatch.setattr(charts, "altair_chart", lambda _, **settings: drawn.update(settings))
    monkeypatch.setattr(charts, "open_head", opened.append)
    keys = [grid_key("heads", "cross", head) for head in (*GRID[:2], Head("encoder_self", 0, 1))]
    assert len(set(keys)) == 3  # a second click on an open head is a new selection
    charts.draw_clickable(alt.Chart(pd.DataFrame()), keys[0], GRID, "")
    for points in ([{"layer": 1, "head": 2}], []):
        monkeypatch.setattr(st, "session_state", {keys[0]: {"selection": {PICKED: points}}})
        drawn["on_select"]()
    assert opened == [Head("cross", 1, 2)]
