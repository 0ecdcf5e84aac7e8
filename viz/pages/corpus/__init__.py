"""The page “Corpus”: every head over many lines, examples or the user's own."""

from collections.abc import Callable

import streamlit as st

from transformer import HeadlightError, Translator
from transformer.corpus import measuring
from viz.app.chrome import explanations, fields
from viz.app.links.navigation import ALL_HEADS, COMPARE, CORPUS_VIEW, ONE_HEAD, REMOVE_HEADS, SEARCH
from viz.app.models import menu
from viz.app.sentence import python_code, worth_seeing
from viz.pages.corpus import compare, head, heads, lines, measurements, removal, search

VIEWS: dict[str, Callable[[Translator, measurements.Measured], str]] = {
    ALL_HEADS: heads.show,
    ONE_HEAD: head.show,
    REMOVE_HEADS: removal.show,
    SEARCH: search.show,
    COMPARE: compare.show,
}
"""Views by their names; each draws itself, and returns the code of its tables and plots."""


def show() -> None:
    """Draw the page: which lines and which view, then the view."""
    offered = menu.offered_models()
    name = st.session_state.get(menu.MODEL, offered.default)
    try:  # even if it cannot read the sentence in the bar
        translator = menu.load(offered.folders[name])
    except HeadlightError:  # the bar says why
        return
    top = st.container(key="page-question")
    with fields.controls_row("corpus-controls"):
        view = fields.choose_one("View", VIEWS, CORPUS_VIEW)
        chosen = lines.choose(translator)
    with top:
        worth_seeing.ask("corpus", view)
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
