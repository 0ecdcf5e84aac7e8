"""Grids of all heads side by side, a kind in each."""

import pandas as pd
import streamlit as st

from transformer.kinds import KIND_NAMES, KINDS
from viz.app.chrome import charts
from viz.draw.labels import capitalised
from viz.figures.heads import measures_chart


def show(table: pd.DataFrame, name: str, key: str) -> None:
    """Draw the column `name` of a table of heads, layers by heads, on one scale of colour."""
    ends = float(table[name].min()), float(table[name].max())
    shown = [kind for kind in KINDS if (table["kind"] == kind).any()]
    for column, kind in zip(st.columns(len(shown), gap="medium"), shown, strict=True):
        with column:
            st.text(capitalised(KIND_NAMES[kind]))
            chosen = table[table["kind"] == kind].drop(columns="kind")
            places = chosen[["layer", "head"]] - 1
            charts.altair_chart(
                measures_chart(chosen.assign(**places), ends),
                key=f"{key}-{kind}",
                alt=f"{capitalised(name)} of every {KIND_NAMES[kind]} head, layers by heads: the "
                f"table below has the same numbers.",
            )


def table(frame: pd.DataFrame, name: str, key: str) -> None:
    """Draw the same table, the largest first, with its downloads."""
    ranked = frame.sort_values(name, ascending=False, kind="stable")
    number = st.column_config.NumberColumn
    floats = [str(column) for column in frame if frame[column].dtype.kind == "f"]
    st.dataframe(
        ranked.assign(kind=ranked["kind"].map(KIND_NAMES)),
        hide_index=True,
        height=280,
        column_config={
            column: number("p (Holm)", format="%.4f") if column == "p" else number(format="%.3f")
            for column in floats
        },
        key=f"{key}-table",
    )
    charts.table_downloads(ranked, key)
