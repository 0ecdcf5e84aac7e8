"""The app: one sentence bar, and a page for each way to look. `make app` serves it."""

import streamlit as st

from viz import sentence_bar
from viz.look import ABOUT, STYLE
from viz.pages import architecture, heads, inside, masks, positions, schedule, training, translate

st.set_page_config("Headlight", layout="wide", menu_items={"About": ABOUT})
st.html(STYLE)

page = st.navigation(
    [
        st.Page(translate.show, title="Translate", url_path="translate", default=True),
        st.Page(heads.show, title="Heads", url_path="heads"),
        st.Page(inside.show, title="Inside a head", url_path="inside"),
        st.Page(masks.show, title="Masks", url_path="masks"),
        st.Page(positions.show, title="Positions", url_path="positions"),
        st.Page(schedule.show, title="Schedule", url_path="schedule"),
        st.Page(training.show, title="Training", url_path="training"),
        st.Page(architecture.show, title="Architecture", url_path="architecture"),
    ],
    position="top",
)
sentence_bar.show()
page.run()
