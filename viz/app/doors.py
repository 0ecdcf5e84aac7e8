"""The menu beside the navigation: the tour, the lessons, and what a reader can bring."""

from __future__ import annotations

import streamlit as st

from viz.app.lessons import menu
from viz.app.links import navigation
from viz.app.models.menu import MODELS_VARIABLE
from viz.app.sentence import sentence_bar
from viz.app.sentence.tour import STOPS, choices

OWN_GUIDE = f"""
**Your sentence.** Type it into the box at the top: all pages follow it.

**Your lines.** Corpus measures every head on your own sentences: follow the link below. Or run
`headlight report --lines FILE -o report.html` on a file with one sentence per line.

**Your model.** Put its folder, made by Headlight or a MarianMT model of Hugging Face, into a
folder of models. Start the app with `{MODELS_VARIABLE}=FOLDER headlight app`: a menu beside the
sentence offers it.
"""


def show(page: str) -> None:
    """Draw the menu on a page, named by its path, once the bar has written the address."""
    first, *_ = STOPS
    with st.popover("Lessons", key="lessons", type="tertiary"):
        here = st.query_params.to_dict() if page == first else sentence_bar.url_choices()
        navigation.plain_link(first, "Look around", {**here, **choices(1, None)})
        menu.draw()
        with st.expander("Bring your own"):
            st.markdown(OWN_GUIDE)
            lines = {"corpus_lines": "your lines"}
            navigation.link("corpus", "Measure many sentences of your own", lines)
