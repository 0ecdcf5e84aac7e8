"""The editor of a translation on a server that takes its time."""

import time

import streamlit as st

from tests.browser.parts.test_translation_editor import FIRST, OTHER, SLOW, pieces_of
from transformer.text.languages import OURS
from viz.app.chrome.mounts import mount
from viz.draw.alternatives import Edited, edit_of, encode_editor

state = st.session_state
state.setdefault("text", FIRST)
state.setdefault("revision", 0)
state.runs = state.get("runs", 0) + 1
pieces = pieces_of(state.text)


def changed(act):
    if isinstance(act, Edited):
        state.text, state.revision = act.text, act.revision
    elif act is not None:
        words = [*act, *(piece.text for piece in pieces[len(act) :])]
        state.text = "".join(words).replace("▁", " ").strip()


if st.button("another sentence"):
    state.text = OTHER
    pieces = pieces_of(state.text)
time.sleep(SLOW)
data = encode_editor(
    state.text, pieces, revision=state.revision, forced=0, by_hand=False, languages=OURS
)
mount("editor", data, lambda sent: changed(edit_of(sent, pieces)))
st.text(f"run {state.runs}: [{state.text}]")
