"""The heads page on attention of any size: what `python -m benchmarks app` draws and measures.

The URL says how large: `?n=128&N=6&h=8`. The button takes other arrays of the same size.
"""

import streamlit as st

from tests.made_trace import made_trace
from viz.app.sentence import sentence_bar
from viz.app.served import style_sheet
from viz.app.view.compute import LISTING
from viz.app.view.listing import Listing
from viz.pages.heads.page import show_trace

st.set_page_config("Headlight", layout="wide")
st.html(f"<style>{style_sheet()}</style>")
bar = sentence_bar.show()
seed = st.session_state.setdefault("seed", 0)
if st.button("Next"):
    st.session_state["seed"] = seed = seed + 1
n, layers, heads = (int(st.query_params[name]) for name in ("n", "N", "h"))
if st.session_state.get("made") != seed:
    st.session_state["made"], st.session_state["trace"] = seed, made_trace(n, layers, heads, seed)
st.session_state[LISTING] = Listing(bar)
assert bar.translation is not None
show_trace(bar.translation, st.session_state["trace"])
