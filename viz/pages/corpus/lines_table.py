"""Lines as a table: a tick makes a line the sentence of every page."""

from typing import Any

import pandas as pd
import streamlit as st

from viz.app.chrome.charts import table_downloads
from viz.app.sentence.search_request import put_text


def lines_table(shown: pd.DataFrame, every_line: pd.DataFrame, name: str, alt: str) -> None:
    """Draw the `shown` lines as a table, with downloads of every line."""
    sources = list(shown["source"])
    # other lines are another table, in which nothing is ticked
    key = f"{name}-{hash(tuple(shown['line']))}"

    def ticked() -> None:
        row = ticked_row(st.session_state.get(key), len(sources))
        if row is not None:
            put_text(sources[row])

    st.dataframe(
        shown,
        hide_index=True,
        column_config=number_formats(shown),
        key=key,
        on_select=ticked,
        selection_mode="single-row",
        alt=alt,
    )
    st.caption(
        f"Tick a line to use it as the sentence on every page. Saved: {len(every_line):,} lines."
    )
    table_downloads(every_line, name)


def number_formats(table: pd.DataFrame) -> dict[str, Any]:
    """Return the settings of the columns with numbers: three decimals where one has a fraction."""
    return {
        str(name): st.column_config.NumberColumn(format="%d" if (values % 1 == 0).all() else "%.3f")
        for name, values in table.items()
        if pd.api.types.is_float_dtype(values)
    }


def ticked_row(state: Any, rows: int) -> int | None:
    """Return the row that is ticked, of so many, or None for anything else.

    The state is the value that Streamlit holds under the key of the table.
    """
    selection = state.get("selection") if isinstance(state, dict) else None
    ticks = selection.get("rows") if isinstance(selection, dict) else None
    if not (isinstance(ticks, list) and ticks and type(ticks[0]) is int):
        return None
    return ticks[0] if 0 <= ticks[0] < rows else None
