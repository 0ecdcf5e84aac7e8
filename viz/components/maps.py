"""The map of one head as Streamlit mounts it: a thin shell around the JavaScript module.

Python says what is to be drawn in one run of bytes; all that follows a pointer or a key happens in
the browser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from viz.components.bundle import script, style
from viz.components.packet import map_packet

if TYPE_CHECKING:
    from transformer.trace import Kind, Labels

# the shadow root keeps Streamlit's styles out and these in
_attention_map = st.components.v2.component(
    "headlight_attention_map", js=script("attention_map.js"), css=style()
)


def attention_map(
    weights: NDArray[np.float32],
    labels: Labels,
    kind: Kind,
    *,
    title: str,
    key: str,
    reads: tuple[str, ...] | None = None,
) -> None:
    """Draw one head large: queries down, keys across, each weight a hover away.

    Args:
        weights: `[query, key]`, 0 to 1; they reach the browser exactly.
        labels: the tokens along both axes, pieces or whole words.
        kind: gives the colour and the words on the axes.
        title: such as `L3 H5 · cross-attention`.
        key: names the component in the session; one key, one place on the page.
        reads: `[query]`, what the decoder reads at each position, for the text on hover.

    Raises:
        ValueError: if a label is missing or too many, or a weight is not a number.
    """
    _attention_map(key=key, data=map_packet(weights, labels, kind, title=title, reads=reads))
