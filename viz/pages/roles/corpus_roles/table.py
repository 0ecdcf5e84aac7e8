"""Every measure of one head with its interval, as a table."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from transformer.analysis.corpus.corpus_roles import MEASURES
from transformer.analysis.corpus.head_report import HeadFigures
from transformer.analysis.heads.importance import IMPORTANCE
from viz.pages.roles.corpus_roles.text import with_interval


def measures_table(figures: HeadFigures) -> None:
    """Draw the table."""
    st.subheader("Every measure", anchor=False)
    st.table(table(figures), border="horizontal", hide_index=True)  # its lines break


def table(figures: HeadFigures) -> pd.DataFrame:
    """A row for each measure that the head has."""
    about = MEASURES | IMPORTANCE
    return pd.DataFrame(
        [
            (name, with_interval(name, one), about.get(name, ""))
            for name, one in figures.measures.items()
        ],
        columns=["measure", "mean (95 %)", "what it is"],
    )
