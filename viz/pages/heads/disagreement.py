"""Largest differences between two lenses: by head or layer, and by row of the open map."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from transformer.analysis.distance import row_distances
from transformer.analysis.heads.measures import first_counted_row
from transformer.analysis.lenses.disagreement import head_distances
from viz.draw.labels import capitalised, row_names
from viz.draw.lens_words import tells_heads
from viz.draw.open_head import Heads, mean, short_name
from viz.pages.heads.controls import Controls, choose_head

SHOWN = 5
"""Length of each list."""


def show_disagreement(controls: Controls, first: Heads, second: Heads) -> None:
    """Draw the heads and the rows with the largest differences; a click opens a head.

    Args:
        controls: choices of the page.
        first: heads of the open map.
        second: the same heads through another lens.
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
    # single heads where both lenses have them
    lens = first.lens if tells_heads(second.lens) else second.lens
    subject = "head" if tells_heads(lens) else "layer, all heads together"
    st.markdown(f"**By {subject}**, mean over its rows")
    with st.container(key="disagreeing-heads", horizontal=True, gap="small"):
        for index in np.argsort(-distances, axis=None, kind="stable")[:SHOWN]:
            layer, head = (int(n) for n in np.unravel_index(index, distances.shape))
            st.button(
                f"{short_name(lens, layer, head)} · {distances[layer, head]:.2f}",
                key=f"disagreeing-{layer}-{head}",
                on_click=partial(choose_head, lens, layer, head),
            )


def _rows(controls: Controls, first: Heads, second: Heads) -> None:
    first_map, second_map = (
        mean(
            heads.whole.weights, controls.layer, controls.head if tells_heads(heads.lens) else None
        )
        for heads in (first, second)
    )
    whole = first.whole
    distances = row_distances(first_map, second_map)  # [query]
    counted = first_counted_row(len(distances), causal=whole.is_causal(first.kind))
    names = row_names(whole.labels.queries, reads=whole.reads, writes=whole.writes)
    st.markdown("**By row** of the open map")
    with st.container(gap=None):
        for row in np.argsort(-distances[counted:], kind="stable")[:SHOWN] + counted:
            st.text(f"{capitalised(names[row])}: {distances[row]:.2f}")
