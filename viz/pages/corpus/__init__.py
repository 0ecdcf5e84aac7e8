"""The page “Corpus”: every head over many lines, examples or the user's own."""

from collections.abc import Callable

import streamlit as st

from transformer import HeadlightError, Translator
from transformer.corpus import measuring
from viz.app.chrome import explanations, fields
from viz.app.links import navigation
from viz.app.models import menu
from viz.app.sentence import python_code, worth_seeing
from viz.pages.corpus import (
    compare,
    dictionary,
    head,
    heads,
    lines,
    measurements,
    pairs,
    removal,
    search,
)

VIEWS: dict[str, Callable[[Translator, measurements.Measured], str]] = {
    navigation.ALL_HEADS: heads.show,
    navigation.ONE_HEAD: head.show,
    navigation.REMOVE_HEADS: removal.show,
    navigation.DICTIONARY: dictionary.show,
    navigation.SEARCH: search.show,
    navigation.COMPARE: compare.show,
}
"""Views of lines, by name; each draws itself, and returns the code of its tables and plots."""

VIEW_NAMES = (*VIEWS, navigation.PAIRS)  # the last one needs no lines


def show() -> None:
    """Draw the page: which lines and which view, then the view."""
    offered = menu.offered_models()
    name = st.session_state.get(menu.MODEL, offered.default)
    try:  # even if it cannot read the sentence in the bar
        translator = menu.load(offered.folders[name])
    except HeadlightError:  # the bar says why
        return
    question = worth_seeing.begin()
    with fields.controls_row("corpus-controls"):
        view = fields.choose_one("View", VIEW_NAMES, navigation.CORPUS_VIEW)
        chosen = "" if view == navigation.PAIRS else lines.choose(translator)
    worth_seeing.show("corpus", view, row=question)
    if view == navigation.PAIRS:
        python_code.show_code(f"translator = {python_code.load_call(name)}", pairs.show(translator))
        return
    if (measured := lines.show(translator, chosen)) is not None:
        code = VIEWS[view](translator, measured)
        path = "translator.folder / result_file.FILE"
        if chosen == lines.OWN:  # as the page saves it
            path = 'Path("headlight-corpus.safetensors")'
        loaded = f"""
            translator = {python_code.load_call(name)}
            lines = result_file.from_bytes(({path}).read_bytes(), translator)
        """
        python_code.show_code(loaded, code)
        return
    explanations.explain(
        "Each line is translated and measured once. The server keeps the numbers until it needs "
        "the memory. Only someone who submits the same lines can see the results."
        + explanations.sources("", measuring.measure_lines)
    )
