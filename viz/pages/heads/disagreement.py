"""Where two lenses disagree most: by head, or by layer, and by row of the open map."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from transformer.analysis.distance import head_distances, row_distances
from transformer.analysis.heads.measures import first_counted_row
from viz.draw.labels import capitalised, row_names
from viz.draw.lens_words import tells_heads
from viz.draw.open_head import Heads, mean, short_name
from viz.pages.heads.controls import Controls, choose_head

SHOWN = 5
"""Lines of each list."""


def show_disagreement(controls: Controls, first: Heads, second: Heads) -> None:
    """Draw two short lists; a head is opened by a click on its line.

    Args:
        first: the heads of the open map.
        second: the same through another lens.
    """
    st.subheader("Where the two lenses disagree most", anchor=False)
    hidden = "" if controls.special else " Special tokens count here, although they are hidden."
    st.text(
        "The share of a row that one lens has for other tokens than the other one does: 0 where "
        f"they say the same, 1 where they agree on nothing.{hidden}"
    )
    by_head, by_row = st.columns(2, gap="medium")
    with by_head:
        _heads(first, second)
    with by_row:
        _rows(controls, first, second)


def _heads(first: Heads, second: Heads) -> None:
    distances = head_distances(first.whole, second.whole, first.kind)
    # a head is told from others where both lenses do
    lens = first.lens if tells_heads(second.lens) else second.lens
    one = "head" if tells_heads(lens) else "layer, all heads together"
    st.markdown(f"**By {one}**, mean over its rows")
    with st.container(key="disagreeing-heads", horizontal=True, gap="small"):
        for at in np.argsort(-distances, axis=None, kind="stable")[:SHOWN]:
            layer, head = (int(n) for n in np.unravel_index(at, distances.shape))
            st.button(
                f"{short_name(lens, layer, head)} · {distances[layer, head]:.2f}",
                key=f"disagreeing-{layer}-{head}",
                on_click=partial(choose_head, lens, layer, head),
            )


def _rows(controls: Controls, first: Heads, second: Heads) -> None:
    one, other = (
        mean(
            heads.whole.weights, controls.layer, controls.head if tells_heads(heads.lens) else None
        )
        for heads in (first, second)
    )
    whole = first.whole
    distances = row_distances(one, other)  # [query]
    counted = first_counted_row(len(distances), causal=whole.is_causal(first.kind))
    names = row_names(whole.labels.queries, reads=whole.reads, writes=whole.writes)
    st.markdown("**By row** of the open map")
    with st.container(gap=None):
        for row in np.argsort(-distances[counted:], kind="stable")[:SHOWN] + counted:
            st.text(f"{capitalised(names[row])}: {distances[row]:.2f}")
