"""The app: one sentence bar, and a page for each way to look. `make app` serves it."""

import streamlit as st

from viz.app import sentence_bar
from viz.app.look import ABOUT, STYLE
from viz.app.page_links import registered
from viz.pages import architecture, heads, inside, masks, positions, schedule, training, translate

st.set_page_config("Headlight", layout="wide", menu_items={"About": ABOUT})
st.html(STYLE)

others = (heads, inside, masks, positions, schedule, training, architecture)
page = st.navigation(
    [registered(translate, default=True), *map(registered, others)],
    position="top",
)
sentence_bar.show(page.url_path)
page.run()
