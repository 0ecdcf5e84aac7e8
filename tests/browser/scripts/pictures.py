"""A map and a grid of heads that follow a slider and each other."""

import numpy as np
import streamlit as st

from transformer.analysis.axes import LabelledWeights
from transformer.analysis.heads.head import Head
from transformer.kinds import Kind
from transformer.text.languages import OURS
from transformer.trace import Labels
from viz.app.chrome.mounts import mount, mount_grid
from viz.draw.attention_map import MapAxes, encode_map
from viz.draw.head_grid import encode_grid
from viz.draw.open_head import Heads

WORDS = 24

state = st.session_state
state.runs = state.get("runs", 0) + 1
words = tuple(f"▁word{n}" for n in range(WORDS))
labels = Labels(words, words)
shift = st.slider("shift", 0, 5)
weights = np.roll(np.eye(WORDS, dtype=np.float32), shift, axis=1)
mount("map", encode_map(weights, MapAxes("cross", labels, OURS), title=f"shift {shift}"))


def keep(head):
    state.asked = head


head = state.get("asked", Head("cross", 1, 2))
axes = LabelledWeights(np.full((2, 4, WORDS, WORDS), 0.5, np.float32), labels)
kinds: tuple[Kind, ...] = ("encoder_self", "decoder_self", "cross")
heads = [Heads(kind, axes, axes, (4, 4)) for kind in kinds]
mount_grid("grid", encode_grid(heads, key="grid"), heads, selected=head, on_pick=keep)
st.text(f"runs {state.runs} {head.kind} {head.layer} {head.head}")
