"""Two sentences that only the order of their words tells apart, and that order removed (§3.5)."""

from __future__ import annotations

import streamlit as st

from transformer import Translator
from transformer.analysis.paper.positions import Edit
from transformer.decoding.settings import SearchSettings
from viz.app.cache import cached_results
from viz.app.sentence import search_request, sentence_bar
from viz.draw.labels import quoted

PAIR = ("The dog bites the man.", "The man bites the dog.")
"""The same pieces in another order."""
PAIR_LANGUAGE = "English"
"""The language that a model must read for them."""
_REMOVED = Edit("removed", ("encoder",))


def show_pair(translator: Translator) -> None:
    """What becomes of both with the encoder's positions and without, found as the page is drawn."""
    st.subheader("Where order is all", anchor=False)
    beam_size = st.session_state[sentence_bar.BEAM]
    without = []
    for text in PAIR:
        found = cached_results.translate(translator, text, beam_size)
        edited = cached_results.translate_edited(
            translator,
            text,
            SearchSettings(beam_size=beam_size),
            _REMOVED.hooks(),
            repr(_REMOVED),
        )
        without.append(edited.text)
        st.text(
            f"{quoted(text)} becomes {quoted(found.text)}, and without the encoder's positions "
            f"{quoted(edited.text)}."
        )
    st.text(
        "The pieces are the same, so without positions the two are one sentence to the encoder."
        if len(set(without)) == 1
        else "Without positions this model still finds two different translations."
    )
    with st.container(horizontal=True, gap="small"):
        for text in PAIR:
            st.button(f"Show “{text}”", on_click=search_request.put_text, args=(text,))
