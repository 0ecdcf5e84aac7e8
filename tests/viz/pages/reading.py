"""Readers of a page, as the browser gets it."""

import json
import re
from typing import Any

import numpy as np
import pandas as pd
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import texts
from tests.viz.draw.message import decode
from viz.app.view.page import TITLE

SENTENCE = "The dog sleeps in the garden."


def frames(app: AppTest, chart: int = 0) -> list[pd.DataFrame]:
    """Return the tables of a chart, which Streamlit sends as Arrow."""
    sets = app.get("vega_lite_chart")[chart].proto.datasets
    return [convert_arrow_bytes_to_pandas_df(dataset.data.data) for dataset in sets]


def records(app: AppTest, chart: int = 0) -> list[list[dict[Any, Any]]]:
    return [frame.to_dict("records") for frame in frames(app, chart)]


def message(app: AppTest, component: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return plain values and arrays of the one picture of a kind."""
    pictures = (decode(element.proto.bytes) for element in app.get("bidi_component"))
    (only,) = [picture for picture in pictures if picture[0]["component"] == component]
    return only


def html(app: AppTest) -> list[str]:
    return [element.proto.body for element in app.get("html")]


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def tables(app: AppTest) -> list[list[list[str]]]:
    """Return the cells of the Markdown tables on the page."""
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        for element in app.markdown
        if len(lines := element.value.splitlines()) > 2 and lines[0].startswith("|")
    ]


def page_text(app: AppTest) -> str:
    markdown = " ".join(element.value for element in app.markdown)
    return " ".join([*texts(app), *(heading.value for heading in app.subheader), markdown])


def assert_whole(app: AppTest) -> None:
    """No number is missing in what a page says and draws."""
    assert not re.search(r"\bnan\b", page_text(app), re.IGNORECASE)
    for chart, element in enumerate(app.get("vega_lite_chart")):
        assert "NaN" not in json.dumps(json.loads(element.proto.spec).get("datasets", {}))
        for frame in frames(app, chart):
            missing = frame.select_dtypes("number").isna().any()
            assert not missing.any(), frame[missing[missing].index]


def program(app: AppTest) -> str:
    """Return the code under a view."""
    assert not app.exception
    (expander,) = (expander for expander in app.expander if expander.label == TITLE)
    (code,) = expander.code
    return code.value
