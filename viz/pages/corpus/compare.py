"""The view “Compare”: two models over the same lines, head by head and sentence by sentence."""

import hashlib
from collections.abc import Hashable
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from transformer import InputError, Translator
from transformer.corpus.comparison import compared_heads, compared_sentences
from transformer.corpus.measured import HEAD_MEASURES, LOG_P, MeasuredLines
from transformer.corpus.measuring import remeasure_lines
from transformer.corpus.result_file import MAX_BYTES, from_bytes, read_unchecked
from viz.app import served
from viz.app.cache.memory import memo, recall
from viz.app.chrome import charts, explanations, problems
from viz.app.chrome.fields import choose_one, controls_row, file_field, menu, release_file
from viz.app.models.menu import offered_models, reads_same_language
from viz.app.view import Content, Offer, OtherModel, compute, compute_on_request, list_file, view
from viz.draw.labels import capitalised, head_title, measure_name
from viz.figures import changes
from viz.pages.corpus.lines import needed
from viz.pages.corpus.search import lines_table, number_formats

JOB = "corpus-second"
FILE, OPENED = "corpus-second-file", "corpus.second_file"
"""Names in the session: of the field, and of the file that was opened."""

MODEL_HERE, RESULT_FILE = "a model here", "a result file"
COMMAND = "headlight evaluate lines --checkpoint OTHER --src LINES --out FILE"
MAX_HEADS, MAX_LINES = 12, 20
_LARGEST = min(MAX_BYTES, served.MAX_UPLOAD_BYTES)


class OpenedFile(NamedTuple):
    """Result file of this session, whose lines are in the memo."""

    name: str
    key: Hashable
    is_checked: bool


@view("Compare", needs="model", question="What differs between two models on the same lines?")
def compare(translator: Translator) -> None:
    """Draw the differences of two models, head by head and sentence by sentence."""
    lines = needed(translator)
    folders = {
        name: folder
        for name, folder in offered_models().folders.items()
        if folder != translator.folder and reads_same_language(translator, folder)
    }
    which = RESULT_FILE
    if folders:
        with controls_row():
            options = [MODEL_HERE, RESULT_FILE]
            which = choose_one("Compare with", options, "compare_with", labelled=True)
            if which == MODEL_HERE:
                name = menu("Second model", list(folders), "second_model", width=320)
    if which == MODEL_HERE:
        offer = Offer(JOB, f"Measuring with {name}", "Measure these lines with this model")
        other = OtherModel(name, folders[name])
        second = compute_on_request("second", offer, remeasure_lines, other, lines)
    else:
        second = _opened_file(translator, lines)
    if second is not None:
        try:
            _draw(lines, second)
        except InputError as error:
            problems.say(error)
    explanations.explain(
        "Differences: the second model minus the first, over the same lines. Bars: 95 % bootstrap "
        "intervals over the lines, not corrected for the number of heads. Heads are paired by "
        "layer and number: another training may put the same role elsewhere."
        + explanations.sources("", compared_heads, compared_sentences)
    )


def _opened_file(translator: Translator, lines: MeasuredLines) -> MeasuredLines | None:
    """Draw the field of a result file; return what the last file has that could be read."""
    st.text(
        "Measure the same lines with another model, then open the results here. Models that read "
        "the same language appear in a menu: see “Bring your own” on Translate."
    )
    st.code(COMMAND, language=None, wrap_lines=True)
    try:
        file = file_field("Open results", FILE, ["safetensors"], _LARGEST)
        if file is not None:
            release_file(FILE)
            _open(translator, lines, *file)
    except InputError as error:
        problems.say(error)
    opened: OpenedFile | None = st.session_state.get(OPENED)
    if opened is None:
        return None
    second: MeasuredLines | None = recall(opened.key)
    if second is None:
        st.text("The server no longer has your file: open it again.")
        return None
    checked = "" if opened.is_checked else " Not checked: its model is not open here."
    st.text(f"Second model: {opened.name}, {len(second):,} lines.{checked}")
    list_file("second", second, opened.key, read_unchecked, Content(Path(opened.name)))
    return second


def _open(translator: Translator, lines: MeasuredLines, name: str, content: bytes) -> None:
    second = read_unchecked(content)
    if is_checked := second.checksum == lines.checksum:
        second = from_bytes(content, translator)
    key = "second file", hashlib.sha256(content).hexdigest(), is_checked
    memo(key, lambda: second)
    st.session_state[OPENED] = OpenedFile(name, key, is_checked)


def _draw(lines: MeasuredLines, second: MeasuredLines) -> None:
    sentences = compute("sentences", compared_sentences, lines, second)
    st.subheader("Head by head", anchor=False)
    measures = [name for name in lines.head_values if name in second.head_values]
    if lines.heads == second.heads:
        measure = menu("Measure", measures, "compare_measure", width=220, format_func=measure_name)
        st.caption(f"{capitalised(HEAD_MEASURES[measure])}.")
        table = compute("table", compared_heads, lines, second, measure)
        places = table[["kind", "layer", "head"]].to_numpy()
        names = [head_title(kind, layer - 1, head - 1) for kind, layer, head in places]
        named = table[["first", "second", "difference", "low", "high"]]
        named.insert(0, "head", names)
        left, right = st.columns([5, 7], gap="medium")
        with left:
            charts.altair_chart(
                changes.differences_chart(named.head(MAX_HEADS), measure_name(measure)),
                key="compare-heads",
                alt=f"The largest differences in {measure_name(measure)}, with intervals.",
            )
        with right:
            formats = number_formats(named)
            st.dataframe(named, hide_index=True, column_config=formats, key="compare-table")
            charts.table_downloads(table, "compared-heads")
    else:
        st.text(
            f"The models have {len(lines.heads)} and {len(second.heads)} heads in different "
            f"places: you can compare their sentences alone."
        )
    st.subheader("Sentence by sentence", anchor=False)
    same = int((sentences["first"] == sentences["second"]).sum())
    st.text(
        f"{same:,} of {len(sentences):,} translations are the same. The least similar come first "
        f"(chrF, 100 = the same)."
    )
    shown = sentences[["line", "alike", LOG_P, "source", "first", "second"]].head(MAX_LINES)
    shown = shown.rename(columns={LOG_P: f"Δ {LOG_P}"})
    lines_table(shown, sentences, "compared-lines", "Lines, the least similar translations first")
