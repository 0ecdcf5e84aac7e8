"""Which heads speak for the written piece and which for the other one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import streamlit as st

from transformer import AttentionTrace
from transformer.analysis.heads.head import Head
from transformer.analysis.logits.contrast import Contrast
from transformer.analysis.logits.direct_logits import DecoderKind
from transformer.analysis.teacher_forcing import Array
from transformer.kinds import KINDS, Kind
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.fields import choose_one
from viz.app.chrome.head_picker import head_buttons, in_link, open_head
from viz.app.chrome.markdown import as_markdown
from viz.app.links import navigation
from viz.draw.formatting import format_number
from viz.draw.labels import SCREEN_NAMES, display_tokens, head_title, quoted
from viz.pages.roles.clicked_head import picked
from viz.pages.roles.removal.controls import open_without
from viz.pages.roles.why_this_word.charts import heads_chart, pieces_chart, strongest

MEASURE = "why_heads"
"""Name in the URL."""
Measure = Literal["gradient × value", "direct logits"]
DECODER_KINDS: tuple[DecoderKind, ...] = get_args(DecoderKind)
NAMED = 5
"""Heads on each side that are named."""


def show_heads(found: Contrast, head: Head, written: str, other: str) -> None:
    """Draw the heads as tables, and the strongest by name; a click opens one.

    Args:
        head: the open head.
        written: as the screen shows it.
        other: likewise.
    """
    measure: Measure = choose_one("Heads by", get_args(Measure), MEASURE)
    values: dict[Kind, Array] = dict(found.by_head)
    if measure == "direct logits":
        values = {kind: found.direct[kind] for kind in DECODER_KINDS}
    most = max(float(np.abs(of).max()) for of in values.values())
    for column, (kind, of) in zip(st.columns(len(KINDS)), values.items(), strict=False):
        with column:
            st.text(f"{SCREEN_NAMES[kind]} {format_number(float(of.sum()), sign=True)}")
            _table(kind, of, most, head, measure)
    st.caption(
        as_markdown(
            f"Purple speaks for {quoted(written)}, olive for {quoted(other)}; the full colour is "
            f"{most:.2f} nats. Beside each kind stands the sum of its heads."
        )
    )
    ordered = in_order(values)
    _name_heads(written, [one for one in ordered if one[1] > 0][:NAMED])
    _name_heads(other, [one for one in reversed(ordered) if one[1] < 0][:NAMED])


def in_order(values: Mapping[Kind, Array]) -> list[tuple[Head, float]]:
    """Every head with its number, the largest first.

    Args:
        values: `[layer, head]` of each kind.
    """
    heads = [
        (Head(kind, *map(int, at)), float(of[at]))
        for kind, of in values.items()
        for at in np.ndindex(of.shape)
    ]
    return sorted(heads, key=lambda one: -one[1])


def show_open_head(
    trace: AttentionTrace, step: int, found: Contrast, head: Head, written: str, other: str
) -> None:
    """Draw what the open head brings from each of its keys, and the ways on from it."""
    kind, at = head.kind, (head.layer, head.head)
    st.subheader(head_title(*head), anchor=False)
    values = found.values[kind][at]
    total = format_number(float(values.sum()), sign=True)
    about = f"{total} nats by gradient × value"
    if kind != "encoder_self":
        direct = format_number(float(found.direct[kind][at]), sign=True)
        about += f", {direct} by direct logits"
    st.text(f"{about}: above 0 it speaks for {quoted(written)}, below for {quoted(other)}.")
    tokens = trace.decoder_tokens[: step + 1] if kind == "decoder_self" else trace.source_tokens
    more: dict[str, Array] = {}
    if kind != "encoder_self":  # whose rows are not steps
        more["weight"] = trace.weights(kind)[at][step, : len(values)]
    altair_chart(
        pieces_chart(
            display_tokens(tokens),
            values,
            "gradient × value, nats",
            places=strongest(values),
            more=more,
        ),
        key="why-open",
        alt="Gradient × value of each key of the open head.",
    )
    with st.container(key="why-links", horizontal=True, gap="small"):
        navigation.link("heads", "where this head looks", in_link(*head))
        st.button(
            "Take it away: what changes", key="why-remove", on_click=open_without, args=(head,)
        )


def _table(kind: Kind, values: Array, most: float, head: Head, measure: Measure) -> None:
    opened = (head.layer, head.head) if head.kind == kind else None
    # a click on the head that was clicked last would only take its selection away: what is open
    # elsewhere gives the chart a new key, and with it no selection
    own = f"{head.layer}.{head.head}" if opened else ""
    key = f"why-heads-{kind}-{own}"
    layers, heads = values.shape

    def clicked() -> None:
        at = picked(st.session_state.get(key), (layers, heads))
        if at is not None:  # a click beside the cells chooses none
            open_head(Head(kind, *at))

    altair_chart(
        heads_chart(kind, values, most, measure, opened=opened, clickable=True),
        key=key,
        on_select=clicked,
        alt=f"What each head of the kind {SCREEN_NAMES[kind]} adds, layers down and heads across.",
    )


def _name_heads(piece: str, heads: Sequence[tuple[Head, float]]) -> None:
    st.text(f"For {quoted(piece)}" if heads else f"No head speaks for {quoted(piece)}.")
    head_buttons("why-open", [(head, format_number(value, sign=True)) for head, value in heads])
