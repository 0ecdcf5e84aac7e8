"""Further sentences beside the one in the bar, where a page needs several: a batch."""

import streamlit as st

from transformer import AttentionTrace, HeadlightError
from viz.app.cache import cached_results
from viz.app.chrome import fields, problems
from viz.app.sentence import source_box
from viz.app.sentence.sentence_bar import BarTranslation

MORE = "more"  # name in the URL; the pages that need a batch share it

MAX_SENTENCES = 3  # sentences beside the one in the bar: what can be told apart in one picture

_FIRST = {
    "English": ["The old man is sleeping.\nA dog barks."],
    "German": ["Der alte Mann schläft.\nEin Hund bellt."],
}
"""Sentences to begin with, by the language that is read."""


def traces(bar: BarTranslation) -> list[AttentionTrace]:
    """Draw the box of further sentences; return the traces of all, the bar first."""
    languages = bar.translator.languages
    typed = fields.text_area(
        "Further sentences of the batch, one per line",
        source_box.follow_language(MORE, languages, _FIRST),
        key=MORE,
        height=90,
        placeholder=f"Type {languages.sentence('source')} on each line",
    )
    lines = {n: line for n, line in enumerate(typed.splitlines(), start=1) if line.strip()}
    if late := [*lines][MAX_SENTENCES:]:
        sentences = f"The batch takes {MAX_SENTENCES} further sentences"
        st.text(f"{sentences}: line {late[0]} and later are left out.")
    all_traces = [bar.trace]
    for number, line in [*lines.items()][:MAX_SENTENCES]:
        try:
            all_traces.append(cached_results.trace(bar.translator, bar.translate(line)))
        except HeadlightError as error:
            st.text(f"Line {number}: {problems.without_paths(error)}")
    return all_traces
