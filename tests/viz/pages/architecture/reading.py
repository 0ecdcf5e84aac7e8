"""Readers of the architecture page, as the browser gets it."""

from __future__ import annotations

from typing import Any

from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

SENTENCE = "The dog sleeps in the garden."


def drawn(app: AppTest, chart: int = 0) -> list[list[dict[Any, Any]]]:
    """Return the rows of each data set of a chart, which Streamlit sends as Arrow."""
    sets = app.get("vega_lite_chart")[chart].proto.datasets
    frames = [convert_arrow_bytes_to_pandas_df(data_set.data.data) for data_set in sets]
    return [frame.to_dict("records") for frame in frames]


def tables(app: AppTest) -> list[list[list[str]]]:
    """Return the cells of the Markdown tables on the page."""
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        for element in app.markdown
        if len(lines := element.value.splitlines()) > 2 and lines[0].startswith("|")
    ]
