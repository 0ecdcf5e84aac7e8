"""The head view as Streamlit mounts it: two lists of tokens and the ribbons between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from viz.draw.bundle import script, style
from viz.draw.packet import view_packet

if TYPE_CHECKING:
    from transformer.kinds import Kind
    from transformer.trace import Labels

_head_view = st.components.v2.component(
    "headlight_head_view", js=script("head_view.js"), css=style()
)


def head_view(
    heads: Sequence[tuple[str, NDArray[np.float32]]],
    labels: Labels,
    kind: Kind,
    *,
    key: str,
    threshold: float = 0.0,
    reads: Sequence[str] | None = None,
) -> None:
    """Draw queries on the left, keys on the right, a ribbon for each weight between them.

    A token that is picked, on either side, keeps its own ribbons alone, with the exact weights
    beside the tokens of the other side.

    Args:
        heads: one to eight names, such as `L3 H5`, with weights `[query, key]`, 0 to 1. The first
            has the kind's colour; each can be switched off in the browser.
        labels: the tokens of both sides, pieces or whole words.
        kind: gives the first colour and the words over the lists.
        key: names the component in the session; one key, one place on the page.
        threshold: weights of less than this get no ribbon, nor do those of less than 0.01.
        reads: `[query]`, what the decoder reads at each position, for the text on hover.

    Raises:
        ValueError: if there is no head or more than eight, if two have one name, if a label is
            missing or too many, or a weight is not a number.
    """
    _head_view(key=key, data=view_packet(heads, labels, kind, threshold=threshold, reads=reads))
