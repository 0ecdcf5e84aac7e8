"""The menu beside the navigation: lessons, and content that a user can bring."""

import streamlit as st

from viz.app.lessons import menu
from viz.app.links import navigation
from viz.app.models.menu import MODELS_VARIABLE

OWN_GUIDE = f"""
**Your sentence.** Type it into the box at the top. All pages about a sentence follow.

**Your lines.** Corpus measures every head on many sentences: follow the link below. Or run
`headlight report --lines FILE -o report.html` on a file with one sentence per line.

**Your model.** Put the folder of a Headlight or MarianMT (Hugging Face) model into a folder of
models. Start the app with `{MODELS_VARIABLE}=FOLDER headlight app`, then choose the model in the
menu beside the sentence.
"""


def show() -> None:
    """Draw the menu, once the bar has written the address."""
    with st.popover("Lessons", key="lessons", type="tertiary"):
        menu.draw()
        with st.expander("Bring your own"):
            st.markdown(OWN_GUIDE)
            lines = {"corpus_lines": "your lines"}
            navigation.link("corpus", "Measure many sentences", lines)
