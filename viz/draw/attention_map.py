"""The map of one head as Streamlit mounts it: a thin shell around the JavaScript module.

Python says what is to be drawn in one run of bytes; all that follows a pointer or a key happens in
the browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from viz.draw.bundle import script, style
from viz.draw.packet import Scale, map_packet

if TYPE_CHECKING:
    from transformer.kinds import Kind
    from transformer.trace import Labels

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
    reads: Sequence[str] | None = None,
    scale: Scale = "linear",
    threshold: float = 0.0,
    signed: bool = False,
    note: str | None = None,
) -> None:
    """Draw one head large: queries down, keys across, each weight a hover away.

    Args:
        weights: `[query, key]`, 0 to 1; they reach the browser exactly.
        labels: the tokens along both axes, pieces or whole words.
        kind: gives the colour and the words on the axes.
        title: such as `L3 H5 · cross`; a picture that is saved takes its file name from it.
        key: names the component in the session; one key, one place on the page.
        reads: `[query]`, what the decoder reads at each position, for the text on hover.
        scale: how colours follow the weights; by row, each row's largest is the deepest. Numbers
            and bars are the weights themselves on each, and the legend says which it is.
        threshold: squares of less than this stay empty; on hover they still tell their weight.
        signed: the weights are a difference of two maps, -1 to 1, in colours of no kind.
        note: the sentence under the map, instead of the one that says what a row sums to.

    Raises:
        ValueError: if a label is missing or too many, or a weight is not a number.
    """
    data = map_packet(
        weights,
        labels,
        kind,
        title=title,
        reads=reads,
        scale=scale,
        threshold=threshold,
        signed=signed,
        note=note,
    )
    _attention_map(key=key, data=data)
