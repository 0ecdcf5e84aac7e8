"""Charts that are drawn from a remembered specification."""

import json
from copy import deepcopy
from xml.etree import ElementTree

import altair as alt
import pandas as pd
from streamlit.testing.v1 import AppTest
from vl_convert import vegalite_to_svg

from viz.app.chrome import charts
from viz.app.chrome.charts import spec_of
from viz.figures.axes import named_color, word_axis

COLORS = {"if": "teal", "as": "gray"}


def script() -> None:
    import streamlit as st

    from viz.app.chrome.charts import altair_chart

    altair_chart(st.session_state["spec"], key="chart", alt="A line.")


def test_a_spec_has_the_theme_and_its_data_and_stays_as_it_is() -> None:
    table = pd.DataFrame({"a": [1, 2], "b": [3.0, 4.0]})
    spec = spec_of(alt.Chart(table).mark_line().encode(x="a:Q", y="b:Q"))
    before = deepcopy(spec)
    app = AppTest.from_function(script)
    app.session_state["spec"] = spec
    for _ in range(2):
        app.run()
        assert not app.exception
        drawn = app.get("vega_lite_chart")[0].proto
        axis = json.loads(drawn.spec)["config"]["axis"]
        assert axis == charts.chart_theme()["config"]["axis"]
        assert axis["labelFlush"] is False
        assert len(drawn.datasets) == 1
        assert drawn.alt == "A line."
    assert spec == before


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


def test_a_large_table_is_drawn_whole() -> None:
    rows = 5_001  # more than Altair takes by itself
    spec = spec_of(alt.Chart(pd.DataFrame({"a": range(rows)})).mark_line().encode(x="a:Q"))
    (table,) = spec["datasets"].values()
    assert [row["a"] for row in table] == list(range(rows))


def test_the_word_if_is_text_on_every_chart() -> None:
    table = pd.DataFrame({"place": [0, 1], "word": ["as", "if"], "weight": [0.25, 0.75]})
    bars = alt.Chart(table).mark_bar()
    words = bars.encode(word_axis(table["word"].tolist()), y="weight:Q")
    sorted_words = alt.Y("word:N", sort=["if", "as"])
    named = bars.encode(alt.X("weight:Q", title="if"), sorted_words, named_color("word", COLORS))
    for spec in (words.to_dict(), spec_of(words), spec_of(named)):
        drawn = ElementTree.fromstring(vegalite_to_svg(spec)).itertext()
        assert {"as", "if"} <= {text.strip("\u2060") for text in drawn}
