"""A menu that saves a table, as CSV and as Parquet."""

from functools import partial

import pandas as pd
import streamlit as st

from viz.trace_files import csv_bytes, parquet_bytes


def table_downloads(table: pd.DataFrame, name: str) -> None:
    """Draw the menu of a table, whose files are called `headlight-NAME`."""
    title = f"Save {name.replace('-', ' ')}"
    with st.popover(title, key=f"save-{name}", width="content"):
        for form, write, ending, mime in (
            ("CSV", csv_bytes, "csv", "text/csv"),
            ("Parquet", parquet_bytes, "parquet", "application/vnd.apache.parquet"),
        ):
            st.download_button(
                f"{title} as {form}",
                partial(write, table),
                f"headlight-{name}.{ending}",
                mime,
                key=f"download-{name}-{ending}",
                on_click="ignore",
            )
