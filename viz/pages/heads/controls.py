"""What the heads page is asked to show: every choice stands in the URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import Kind
from transformer.analysis.measures import MEASURES
from viz.app.head_picker import HEAD, pick, pick_kind
from viz.draw.attention_map import Scale
from viz.draw.head_order import SORTS
from viz.draw.labels import KINDS_BY_NAME

View = Literal["one head", "step by step", "compare"]


@dataclass(frozen=True)
class Controls:
    """The choices on the heads page; layers and heads count from 0.

    Args:
        kind: of the open head.
        layer: of the open head; None for the mean over layers.
        head: the open one; None for the mean over heads.
        kinds: shown in the grid.
        layers: shown in the grid.
        sort: one of `SORTS`.
        words: whole words instead of pieces.
        special: whether `<s>` and `</s>` are shown, as they always are step by step.
        scale: how a weight becomes a colour.
        threshold: weights below it are not drawn.
        view: one head, the decoder's steps, or two maps and their difference.
    """

    kind: Kind
    layer: int | None
    head: int | None
    kinds: tuple[Kind, ...]
    layers: tuple[int, ...]
    sort: str
    words: bool
    special: bool
    scale: Scale
    threshold: float
    view: View


def draw(row: DeltaGenerator, layers: int, heads: int) -> Controls:
    """Draw the controls of a model with so many layers and heads into one row."""
    with row:
        kind = pick_kind()
        layer, head = pick(
            HEAD, layers, heads, layer=layers - 1, head=0, mean=True, mean_of_layers=True
        )
        view = st.selectbox(
            "View",
            list(get_args(View)),
            key="view",
            bind="query-params",
            width=125,
            label_visibility="collapsed",
        )
        sort = st.selectbox(
            "Sort by",
            SORTS,
            key="sort",
            bind="query-params",
            width=190,
            help="  \n".join(f"**{measure}**: {text}" for measure, text in MEASURES.items())
            + "  \nConfidence falls from the first map to the last, the others rise.",
        )
        words = st.toggle(
            "Words",
            key="words",
            bind="query-params",
            help="Whole words instead of pieces: the sum over the pieces that are looked at, the "
            "mean over those that look.",
        )
        # without <s> and </s> the rows of the decoder's two kinds would be a step apart
        stepping = view == "step by step"
        with st.popover("More", width="content"):
            special = st.toggle(
                "Special tokens",
                True,
                key="special",
                bind="query-params",
                disabled=stepping,
                help="`<s>` and `</s>`, on which many heads park the weight that they do not need.",
            )
            kinds, shown_layers, scale, threshold = _more(layers)
    return Controls(
        kind=kind,
        layer=layer,
        head=head,
        kinds=kinds,
        layers=shown_layers,
        sort=sort,
        words=words,
        special=special or stepping,
        scale=scale,
        threshold=threshold,
        view=view,
    )


def _more(layers: int) -> tuple[tuple[Kind, ...], tuple[int, ...], Scale, float]:
    kinds = st.pills(
        "Kinds in the grid",
        list(KINDS_BY_NAME),
        selection_mode="multi",
        default=list(KINDS_BY_NAME),
        key="kinds",
        bind="query-params",
    )
    names = [str(n + 1) for n in range(layers)]
    chosen = st.pills(
        "Layers in the grid",
        names,
        selection_mode="multi",
        default=names,
        key="layers",
        bind="query-params",
    )
    scale = st.selectbox(
        "Colour",
        list(get_args(Scale)),
        key="scale",
        bind="query-params",
        help="How a weight becomes a colour on the large map. The numbers stay what they are.",
    )
    threshold = st.slider(
        "Hide weights below",
        0.0,
        0.5,
        0.0,
        0.01,
        key="threshold",
        bind="query-params",
        help="They are not drawn, but their numbers stay a hover away.",
    )
    # where every kind or layer is crossed out, all are shown: a grid of nothing helps nobody
    shown = tuple(KINDS_BY_NAME[n] for n in KINDS_BY_NAME if n in kinds) or tuple(
        KINDS_BY_NAME.values()
    )
    at = tuple(n for n in range(layers) if names[n] in chosen) or tuple(range(layers))
    return shown, at, scale, threshold
