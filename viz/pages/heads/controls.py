"""Controls of the Heads page; every choice is kept in the URL."""

from typing import Any, Literal, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace
from transformer.analysis.heads.measures import MEASURES
from transformer.analysis.lenses import AnyLens
from viz.app.chrome.head_picker import (
    HEAD,
    UrlNames,
    choose,
    first_head,
    pick_head_number_or_mean,
    pick_kind,
    pick_layer_or_mean,
    pick_sinks,
)
from viz.app.sentence import worth_seeing
from viz.draw import head_grid, heads_view, labels
from viz.draw.attention_map import Scale
from viz.draw.caption import ALL_HEADS, tells_heads
from viz.pages.heads.lens import LENS, pick_lens

Mode = Literal["one head", "step by step", "compare"]


_LAYERS = "controls.layers"
_BARE: dict[str, Any] = {"bind": "query-params", "label_visibility": "collapsed"}
_SEVERAL: dict[str, Any] = {"bind": "query-params", "selection_mode": "multi"}


def draw(row: DeltaGenerator, trace: AttentionTrace) -> tuple[heads_view.ExplorerOptions, Mode]:
    """Draw the controls; return the options of the view, and its mode."""
    with row:
        kind = pick_kind()
        layers, heads = trace.weights(kind).shape[:2]
        place = st.container(key="heads-place", horizontal=True, width="content", gap="small")
        with st.popover("Options", width="content"):
            lens = pick_lens(LENS)
            sinks = pick_sinks()
            words = st.toggle(
                "Merge subwords",
                key="words",
                bind="query-params",
                help="Shows whole words: the mean over the rows of a word’s subwords, and the sum "
                "over their columns.",
            )
            sort = st.selectbox(
                "Sort by",
                head_grid.SORTS,
                key="sort",
                bind="query-params",
                help="  \n".join(f"**{measure}**: {text}" for measure, text in MEASURES.items())
                + "  \nConfidence falls from the first map to the last, the others rise.",
            )
            every = list(labels.KINDS_BY_NAME)
            kinds = st.pills("Kinds in the grid", every, default=every, key="kinds", **_SEVERAL)
            # with none selected, all are shown: an empty grid would be of no use
            shown = [labels.KINDS_BY_NAME[name] for name in kinds or every]
            most = max(len(trace.weights(other)) for other in (kind, *shown))
            names = [str(n + 1) for n in range(most)]
            if st.session_state.get(_LAYERS, most) != most:  # of the previous model or kinds
                st.session_state["layers"] = names
            st.session_state[_LAYERS] = most
            selected = st.pills(
                "Layers in the grid", names, default=names, key="layers", **_SEVERAL
            )
            text = "How the large map turns weights into colours. The numbers stay the same."
            scale = st.selectbox(
                "Colour", list(get_args(Scale)), key="scale", bind="query-params", help=text
            )
            text = "Smaller weights are not drawn. Point at a square to read its number."
            threshold = st.slider(
                "Hide weights below",
                0.0,
                0.5,
                0.0,
                0.01,
                key="threshold",
                bind="query-params",
                help=text,
            )
    with place:  # what it offers depends on the lens
        choices = worth_seeing.default_choices("heads")
        first = first_head(choices, kind) or (layers - 1, 0)
        layer, head = pick_head_or_mean(HEAD, layers, heads, default=first, lens=lens)
        mode: Mode = st.selectbox("View", get_args(Mode), key="view", width=132, **_BARE)
    shown_layers = tuple(n for n, name in enumerate(names) if name in selected)
    options = heads_view.ExplorerOptions(
        kind,
        layer,
        head,
        words=words,
        kinds=tuple(other for other in labels.KINDS_BY_NAME.values() if other in shown),
        layers=shown_layers or tuple(range(most)),
        sort=sort,
        scale=scale,
        threshold=threshold,
        lens=lens,
        sinks=sinks,
    )
    return options, mode


def pick_head_or_mean(
    names: UrlNames, layers: int, heads: int, *, default: tuple[int, int], lens: AnyLens
) -> tuple[int | None, int | None]:
    """Draw the menus of layer and head, from 0, at first `default`; None is a mean of them.

    Under a lens without single heads, the menu of heads rests, and the head is None.
    """
    choice = pick_layer_or_mean(names.layer, layers, default=default[0])
    if tells_heads(lens):
        return choice, pick_head_number_or_mean(names.head, heads, default=default[1])
    # Streamlit keeps the value of the menu of heads, which is bound to the address
    resting = f"{names.head}-resting"
    st.selectbox(
        "Head", [ALL_HEADS], key=resting, disabled=True, width=110, label_visibility="collapsed"
    )
    return choice, None


def choose_head(lens: AnyLens, layer: int, head: int) -> None:
    """Set the menus to a small map chosen elsewhere; a disabled menu keeps its head."""
    if tells_heads(lens):
        choose(HEAD, layer, head)
    else:
        st.session_state[HEAD.layer] = str(layer + 1)
