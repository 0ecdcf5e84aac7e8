"""Take heads away, and see what changes."""

from __future__ import annotations

import numpy as np
import streamlit as st

from transformer.kinds import KINDS
from viz.app import sentence_bar
from viz.app.head_picker import HEAD, pick, pick_kind
from viz.app.mounts import attention_map
from viz.app.origin import origin_of
from viz.draw.caption import of_head
from viz.draw.labels import SCREEN_NAMES, head_name
from viz.draw.open_head import heads, open_map

REMOVED = "removed"
"""Name in the URL of the heads that are taken away."""


def take_away() -> None:
    """The view: choose heads, see the open one's map."""
    if (trace := sentence_bar.trace()) is None:
        return
    layers, count = trace.cross.shape[:2]
    with st.container(
        key="roles-controls", horizontal=True, vertical_alignment="bottom", gap="small"
    ):
        kind = pick_kind()
        layer, head = pick(HEAD, layers, count, layer=layers - 1, head=0)
    names = [
        f"{SCREEN_NAMES[one]} {head_name(*place)}"
        for one in KINDS
        for place in np.ndindex(layers, count)
    ]
    st.multiselect(
        "Heads that are taken away",
        names,
        key=REMOVED,
        bind="query-params",
        placeholder="Choose heads",
    )
    now = open_map(heads(trace, kind, words=False, special=True), layer, head)
    attention_map(
        now.weights,
        now.labels,
        kind,
        title=now.title,
        reads=now.reads,
        writes=now.writes,
        key="roles-map",
        caption=origin_of(trace).caption(of_head(kind, layer, head)),
    )
