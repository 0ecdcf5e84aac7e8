"""The page “Training”: the curves of any run, live or ended, and how its heads formed."""

import streamlit as st

from transformer.paper.results import TRAININGS
from viz.app.view import Page
from viz.pages.training import curves, heads_forming


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


PAGE = Page(
    "training",
    "",
    ("head", "encoder", "decoder", "cross-attention", "weight", "loss", "nat"),
    (heads_forming.heads_forming, curves.curves),
    menu="training_view",
    row="training-controls",
    foot=_train_it_yourself,
)
