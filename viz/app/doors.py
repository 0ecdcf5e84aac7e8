"""The line over the first page: what Headlight is, and the ways on from there."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.app.lessons import menu
from viz.app.links import navigation
from viz.app.models.menu import MODELS_VARIABLE
from viz.app.sentence.tour import STOPS, choices

SUMMARY = (
    "Headlight shows what each attention head of a Transformer looks at while it translates your "
    "sentence."
)
OWN_GUIDE = f"""
**Your sentence.** Type it into the box at the top: all pages follow it.

**Your lines.** Corpus measures every head on your own sentences: follow the link below. Or run
`headlight report --lines FILE -o report.html` on a file with one sentence per line.

**Your model.** Put its folder, made by Headlight or a MarianMT model of Hugging Face, into a
folder of models. Start the app with `{MODELS_VARIABLE}=FOLDER headlight app`: a menu beside the
sentence offers it.
"""


def show(place: DeltaGenerator, page: str) -> None:
    """Draw the line into its place above the bar, on the first page alone.

    It is drawn after the bar, whose address it has; `page` is the path of the page.
    """
    first, *_ = STOPS
    if page != first:
        return
    with place, st.container(key="doors", horizontal=True, gap="small"):
        st.markdown(SUMMARY)
        url = {**st.query_params.to_dict(), **choices(1, None)}
        navigation.plain_link(first, "Look around", url)
        with st.popover("Take a lesson", key="lessons", type="tertiary"):
            menu.draw()
        with st.popover("Bring your own", key="bring-your-own", type="tertiary"):
            st.markdown(OWN_GUIDE)
            lines = {"corpus_lines": "your lines"}
            navigation.link("corpus", "Measure many sentences of your own", lines)
