"""The page “Training”: the curves of any run, live or ended, and how its heads formed."""

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.app.chrome.fields import choose_one
from viz.app.sentence import worth_seeing
from viz.pages.training import curves, heads_forming

VIEW = "training_view"  # name in the URL

VIEWS: dict[str, Callable[[DeltaGenerator, DeltaGenerator], None]] = {
    "Heads forming": heads_forming.show,
    "Curves": lambda _question, row: curves.show(row),
}


def show() -> None:
    """Draw the page: the menu of views, then the chosen view."""
    top = st.container(key="page-question")
    row = st.container(key="training-controls", horizontal=True, gap="small")
    with row:
        view = choose_one("View", VIEWS, VIEW)
    with top:
        question = worth_seeing.ask("training", view)
    VIEWS[view](question, row)
