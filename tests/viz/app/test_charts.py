"""Charts that are drawn from a remembered specification."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from threading import Event

import altair as alt
import pandas as pd
from streamlit.elements import vega_charts
from streamlit.testing.v1 import AppTest

from viz.app import style
from viz.app.charts import spec_of


def script() -> None:
    import streamlit as st

    from viz.app.charts import draw_spec

    draw_spec(st.session_state["spec"], key="chart", alt="A line.")


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
        assert axis == style.chart_theme()["config"]["axis"]
        assert axis["labelFlush"] is False
        assert len(drawn.datasets) == 1
        assert drawn.alt == "A line."
    assert spec == before


def test_a_spec_has_its_data_while_another_reader_draws(monkeypatch) -> None:
    drawing, go_on = Event(), Event()
    to_arrow = vega_charts._to_arrow_dataset

    def slow(*args, **options):
        drawing.set()
        assert go_on.wait(10)
        return to_arrow(*args, **options)

    monkeypatch.setattr(vega_charts, "_to_arrow_dataset", slow)
    ours, theirs = (
        alt.Chart(pd.DataFrame({name: range(5_001)})).mark_line().encode(x=f"{name}:Q")
        for name in ("ours", "theirs")
    )
    with ThreadPoolExecutor(2) as threads:
        # which st.altair_chart calls
        other = threads.submit(vega_charts._convert_altair_to_vega_lite_spec, theirs)
        assert drawing.wait(10)
        mine = threads.submit(spec_of, ours)
        with suppress(TimeoutError):  # it waits for the other
            mine.result(0.1)
        go_on.set()
        spec = mine.result(10)
        (rows,) = spec["datasets"].values()  # more than the 5,000 that Altair takes by itself
        assert [row["ours"] for row in rows] == list(range(5_001))
        assert len(other.result(10)["datasets"]) == 1
