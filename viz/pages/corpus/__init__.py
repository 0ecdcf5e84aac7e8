"""The page “Corpus”: every head over many lines, examples or the user's own."""

from collections.abc import Callable

import streamlit as st

from transformer import HeadlightError, Translator
from transformer.analysis.corpus.measuring import measure_lines
from viz.app.chrome.explanations import explain, sources
from viz.app.chrome.fields import choose_one, controls_row
from viz.app.links.navigation import ALL_HEADS, COMPARE, CORPUS_VIEW, ONE_HEAD, REMOVE_HEADS, SEARCH
from viz.app.models import menu
from viz.app.sentence import worth_seeing
from viz.app.sentence.python_code import load_call, show_code
from viz.pages.corpus import compare, head, heads, lines, removal, search
from viz.pages.corpus.measurements import Measured

VIEWS: dict[str, Callable[[Translator, Measured], str]] = {
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
    with controls_row("corpus-controls"):
        view = choose_one("View", VIEWS, CORPUS_VIEW)
        chosen = lines.choose(translator)
    with top:
        worth_seeing.ask("corpus", view)
    if (measured := lines.show(translator, chosen)) is not None:
        code = VIEWS[view](translator, measured)
        path = "translator.folder / result_file.FILE"
        if chosen == lines.OWN:  # as the page saves it
            path = 'Path("headlight-corpus.safetensors")'
        loaded = f"""
            translator = {load_call(name)}
            lines = result_file.from_bytes(({path}).read_bytes(), translator)
        """
        show_code(loaded, code)
        return
    explain(
        "Each line is translated and measured once. The server keeps the numbers until it needs "
        "the memory. Only someone who submits the same lines can see the results."
        + sources("", measure_lines)
    )
