"""Readers of a page's charts, as the browser gets them."""

from __future__ import annotations

import json

import pandas as pd
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest


def chart_tables(app: AppTest, text: str, column: str) -> list[pd.DataFrame]:
    """The table with a column of each chart whose specification says something, in their order."""
    tables = []
    for element in app.get("vega_lite_chart"):
        if text in str(json.loads(element.proto.spec)):
            frames = [convert_arrow_bytes_to_pandas_df(d.data.data) for d in element.proto.datasets]
            (table,) = [frame for frame in frames if column in frame]
            tables.append(table)
    return tables
