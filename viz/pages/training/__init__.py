"""The page “Training”: the curves of any run, live or ended, and how its heads formed."""

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer.paper.results import TRAININGS
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
    question = worth_seeing.begin()
    row = st.container(key="training-controls", horizontal=True, gap="small")
    with row:
        view = choose_one("View", VIEWS, VIEW)
    worth_seeing.ask("training", view, question)
    VIEWS[view](question, row)
    _train_it_yourself()


def _train_it_yourself() -> None:
    """Draw the commands that get text and train on it, for each kind of machine."""
    st.subheader("Train it yourself", anchor=False)
    base = TRAININGS["base"]
    st.code(
        "headlight download multi30k --out data  # or tatoeba, wmt14, wmt14-fr\n"
        "headlight train --config demo.toml --data data --out runs/demo  # on a GPU\n"
        "headlight train --config demo-cpu.toml --data data --out runs/demo  # without a GPU\n"
        "torchrun --nproc-per-node=8 -m headlight train --config base.toml --data wmt14 "
        f"--out runs/base  # eight GPUs; the paper: {base.hours:g} hours on {base.gpus} P100",
        language="sh",
        wrap_lines=True,
    )
    st.text(
        "Take the line for your machine. Where a configuration is for a GPU and there is none, the "
        "command says how long it would take, and stops. This page offers the runs in the folder "
        "runs beside the app while they train."
    )
