"""What the view “Take away” is asked to do: every choice stands in the URL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translator
from transformer.analysis.head import Head
from viz.app import sentence_bar, serving
from viz.app.head_picker import HEAD, pick, pick_kind
from viz.pages.roles import removal_history
from viz.pages.roles.removal_changes import Change, How

REMOVED, HOW, WHICH, DONOR = "removed", "removed_how", "removed_map", "donor"
"""Names in the URL."""

HOWS: dict[str, How] = {
    "zero": "zero",
    "uniform": "uniform",
    "mean": "mean",
    "painted rows": "rows",
    "z of a sentence": "z",
    "weights of a sentence": "weights",
}
"""By the name on the screen and in the URL."""

_HELP = "  \n".join(
    (
        "What stands in the place of a head that is switched off.",
        "**zero**: its output z is 0",
        "**uniform**: each row looks evenly at all that it may see",
        "**mean**: z is its mean over a corpus, where that was measured",
        "**painted rows**: the open head looks where you say",
        "**z**, **weights of a sentence**: what it has on a second sentence of the same shape",
    )
)

Which = Literal["after", "before", "difference"]


@dataclass(frozen=True)
class Controls:
    """The choices of the view.

    Args:
        place: the open head.
        how: a head is switched off by the next click.
        removed: the heads that are off, as the link has them.
    """

    place: Head
    how: How
    removed: str


def draw(translator: Translator) -> Controls:
    """Draw the controls in one row."""
    layers, heads = translator.model.config.N, translator.model.config.h
    history = removal_history.of_session()
    with st.container(
        key="roles-controls", horizontal=True, vertical_alignment="bottom", gap="small"
    ):
        kind = pick_kind()
        layer, head = pick(HEAD, layers, heads, layer=layers - 1, head=0)
        assert layer is not None  # no mean is offered
        assert head is not None
        how = st.selectbox("By", list(HOWS), key=HOW, bind="query-params", width=230, help=_HELP)
        history.see(_removed_now())
        removal_history.buttons(history, _choose)
        with st.popover("Link", width="content"):
            removed = st.text_input(
                "Heads that are off",
                key=REMOVED,
                bind="query-params",
                help="As the link has them: c1.3 is head 3 of layer 1 of cross-attention, counted "
                "from 0, with e for the encoder and d for the decoder.",
                autocomplete="off",
            )
    return Controls(Head(kind, layer, head), HOWS[how], (removed or "").strip())


def _removed_now() -> str:
    """What the field below will hold: it is drawn after the buttons that change it."""
    if REMOVED in st.session_state:
        return st.session_state[REMOVED] or ""
    return st.query_params.get(REMOVED, "")


def _choose(text: str) -> None:
    st.session_state[REMOVED] = text


def pick_map() -> Which:
    """Draw the choice among the three maps of the open head."""
    which: Which | None = st.segmented_control(
        "Map",
        ["after", "before", "difference"],
        default="after",
        required=True,
        key=WHICH,
        bind="query-params",
        label_visibility="collapsed",
    )
    return which or "after"


def second_sentence(
    translator: Translator, controls: Controls, changes: Sequence[Change]
) -> tuple[AttentionTrace | None, str]:
    """The second sentence's trace, and what is wrong with the sentence, or "".

    Its field is drawn where something is to be patched from it.
    """
    patches = [change for change in changes if change.how in ("z", "weights")]
    if controls.how not in ("z", "weights") and not patches:
        return None, ""
    text = st.text_input(
        "Second sentence, from which heads are patched",
        key=DONOR,
        bind="query-params",
        live="250ms",
        autocomplete="off",
        placeholder="As many pieces as the one in the bar, in English and in German",
    )
    if not (text or "").strip():
        return None, ""
    try:
        translation = serving.translate(translator, text, st.session_state[sentence_bar.BEAM])
        return serving.trace(translator, translation), ""
    except HeadlightError as error:
        return None, f"Second sentence: {error}"
