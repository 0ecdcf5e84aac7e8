"""The grid of all heads as Streamlit mounts it, and the bytes that travel for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from viz.components.bundle import script, style
from viz.components.packet import check, pack, to_bytes

if TYPE_CHECKING:
    from transformer.trace import Kind, Labels

# the shadow root keeps Streamlit's styles out and these in
_head_grid = st.components.v2.component(
    "headlight_head_grid", js=script("head_grid.js"), css=style()
)


def grid_packet(
    weights: NDArray[np.float32], labels: Labels, kind: Kind, *, selected: tuple[int, int]
) -> bytes:
    """What `head_grid.js` draws: every head's weights, `[layer, head, query, key]`, in bytes.

    Raises:
        ValueError: if a label is missing or too many, or a weight is not a number.
    """
    check(weights, labels, dimensions=4)
    header = {"layers": weights.shape[0], "heads": weights.shape[1], "selected": list(selected)}
    return pack(header, to_bytes(weights), labels, kind)


def head_grid(
    weights: NDArray[np.float32],
    labels: Labels,
    kind: Kind,
    *,
    selected: tuple[int, int],
    key: str,
) -> tuple[int, int]:
    """Draw every head small, layers down and heads across, and let one be chosen.

    Args:
        weights: `[layer, head, query, key]`, 0 to 1; one byte each travels.
        labels: the tokens along both axes of every map.
        kind: gives the colour.
        selected: layer and head from 0. A new value here moves the selection; the same value
            again leaves it where the person put it.
        key: names the component in the session; one key, one place on the page.

    Returns:
        The layer and the head that are selected now.

    Raises:
        ValueError: if a label is missing or too many, or a weight is not a number.
    """
    memory = f"_headlight_{key}"
    layers, heads = weights.shape[:2]
    asked, now = st.session_state.get(memory, (selected, selected))
    if asked != selected or not _is_head(now, layers, heads):  # another model may have fewer heads
        now = selected
    st.session_state[memory] = (selected, now)

    def pick() -> None:
        # runs before the script does, so even the first drawing after a click has the new outline
        picked = st.session_state[key].get("picked")
        if _is_head(picked, layers, heads):
            st.session_state[memory] = (selected, (picked[0], picked[1]))

    _head_grid(
        key=key, data=grid_packet(weights, labels, kind, selected=now), on_picked_change=pick
    )
    return now


def _is_head(value: object, layers: int, heads: int) -> bool:
    """Whether this is a layer and a head; what a browser sends can be anything."""
    return (
        isinstance(value, (list, tuple))
        and len(value) == 2
        and all(type(n) is int for n in value)
        and 0 <= value[0] < layers
        and 0 <= value[1] < heads
    )
