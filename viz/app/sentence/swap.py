"""⇄: the translation becomes the sentence, for the model of the other direction."""

import streamlit as st

from transformer.text.languages import Languages
from viz.app.chrome.fields import typed
from viz.app.links import address
from viz.app.models import menu
from viz.app.models.menu import OfferedModels
from viz.app.sentence.search_request import TEXT, translate_back

_TRANSLATED = "swap.translated"


def show(languages: Languages, offered: OfferedModels) -> None:
    """Draw the button, where a model of the other direction is offered; a class has none."""
    reverse = menu.reverse_of(languages, offered)
    if reverse and not address.in_class():
        st.button(
            f"⇄ From {languages.target}",
            key="swap",
            on_click=_swap,
            args=(reverse,),
            help=f"Translates the {languages.target} sentence into {languages.source}",
        )


def remember(text: str, translation: str) -> None:
    """Remember the translation of a text, which a click makes the sentence."""
    st.session_state[_TRANSLATED] = text, translation


def _swap(reverse: str) -> None:
    """Swap sentence and translation; a text that is not translated yet stays as it is."""
    text, translation = st.session_state.get(_TRANSLATED, ("", ""))
    current = typed(TEXT)
    translate_back(translation if text == current and translation else current, reverse)
