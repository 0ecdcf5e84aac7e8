"""Grids of all heads side by side, a kind in each, or of the stream, a stack in each."""

import pandas as pd
import streamlit as st

from transformer.kinds import KIND_NAMES
from viz.app.chrome import charts
from viz.draw.labels import capitalised
from viz.figures.heads import measures_chart


def show(table: pd.DataFrame, name: str, key: str) -> None:
    """Draw the column `name` of a table on one scale of colour: its first column has the grids.

    A grid has a row for each layer, and a column for each head, or value of the third column.
    """
    by, _, across = table.columns[:3]
    ends = float(table[name].min()), float(table[name].max())
    grids = [*table.replace({"kind": KIND_NAMES}).groupby(by, sort=False)]
    for column, (title, rows) in zip(st.columns(len(grids), gap="medium"), grids, strict=True):
        places = rows[["layer", "head"] if across == "head" else ["layer"]] - 1
        with column:
            st.text(capitalised(str(title)))
            charts.altair_chart(
                measures_chart(rows.drop(columns=by).assign(**places), ends, across),
                key=f"{key}-{title!s}",
                alt=f"{capitalised(name)} in the {title!s}, by layer and {across}: the table below "
                f"has the same numbers.",
            )


def table(frame: pd.DataFrame, name: str, key: str) -> None:
    """Draw the same table, the largest first, with its downloads."""
    ranked = frame.sort_values(name, ascending=False, kind="stable")
    floats = [str(column) for column in frame if frame[column].dtype.kind == "f"]
    formats = {column: "%.4f" if column == "p" else "%.3f" for column in floats}
    shown = ranked.replace({"kind": KIND_NAMES})
    charts.data_table(shown, key, formats, titles={"p": "p (Holm)"}, saved=ranked, height=280)
