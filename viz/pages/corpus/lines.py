"""The lines that the page “Corpus” shows: the measured examples, or the user's lines."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import streamlit as st

from transformer import HeadlightError, InputError, Translator, config
from transformer.analysis.heads import head
from transformer.analysis.teacher_forcing import Progress
from transformer.checkpoints.domain import per_subword
from transformer.corpus import result_file
from transformer.corpus.measured import COST, HEAD_MEASURES, MeasuredLines
from transformer.corpus.measuring import measure_lines
from transformer.corpus.passes import PIECES, Part, seconds
from transformer.files import reading
from transformer.files.lines import decode_lines
from viz.app import jobs, served
from viz.app.cache import memory
from viz.app.cache.cached_results import identity
from viz.app.cache.memory import state_of_file
from viz.app.chrome.explanations import explain, sources
from viz.app.chrome.fields import choose_one, file_field, read_text, release_file, text_area
from viz.app.chrome.problems import say, say_of_lines, without_paths
from viz.app.links.address import MAX_TYPED, has_arrived, raw_value
from viz.app.view import Content, NothingToDrawError, compute, controls, list_file
from viz.draw.formatting import counted, format_number
from viz.pages.corpus.measurements import (
    COMMAND,
    TOO_LARGE,
    key_of,
    lines_of,
    name_of,
    remember,
    remembered,
)

LINES = "corpus_lines"  # name in the URL
EXAMPLES, OWN = "examples", "your lines"
MAX_LINES, MAX_BYTES = 10_000, 16 * reading.MIB
"""Largest number of lines, and size of a file of them."""
FEW = 200  # lines up to which the cost of each head is measured unless the user says otherwise

JOB, COSTS = "corpus", "corpus-costs"
PASTED, PASTED_REFERENCES = "corpus-pasted", "corpus-references"
FILE, FILE_OF_REFERENCES, RESULT = "corpus-file", "corpus-references-file", "corpus-result-file"
_OWN, _PENDING, _PROBLEM = "corpus.own", "corpus.pending", "corpus.problem"
_FEW = "corpus.few"


@dataclass(frozen=True)
class OwnLines:
    """Lines of a user, with what is needed to measure them again."""

    key: str  # key of the measurement in the memo
    model: object  # identity of the model that measured them
    texts: tuple[str, ...]
    references: tuple[str, ...] | None  # translations by people, a line each, if there are any
    costs: bool  # whether the cost of each head is measured


def choose_lines(translator: Translator) -> MeasuredLines:
    """Draw the choice of lines and their fields; return the lines."""
    path, lines = translator.folder / result_file.FILE, None
    has_examples = state_of_file(path) is not None
    with controls():
        chosen = choose_one("Lines", (EXAMPLES, OWN), LINES) if has_examples else OWN
    if chosen == OWN:
        if not has_examples:
            st.text(f"This model has no measured examples: add your lines, or run {COMMAND}.")
        lines = _own(translator)
    else:
        try:
            lines = compute("lines", result_file.read_lines, path, translator)
        except InputError as error:
            say(error)
    if lines is not None:
        return lines
    explain(
        "Each line is translated and measured once. The server keeps the numbers until it needs "
        "the memory. Only someone who submits the same lines can see the results."
        + sources("", measure_lines)
    )
    raise NothingToDrawError


def _own(translator: Translator) -> MeasuredLines | None:
    state, job = st.session_state, jobs.current(JOB)
    if job is not None and job.state == "done" and _PENDING in state:
        state[_OWN] = state.pop(_PENDING)
    own: OwnLines | None = state.get(_OWN)
    model = identity(translator)
    is_same = own is not None and own.model == model
    lines = remembered(own.key) if own is not None and is_same else None
    is_busy = job is not None and job.is_active
    label, notes = "Your lines", {} if lines is None else _notes(translator, lines)
    if lines is not None:
        counts = [f"{len(dict(some)):,} {text}" for text, some in notes.items() if some]
        label = ", ".join([f"{label}: {counted(len(lines), 'line')} measured", *counts])
    every = sorted(note for some in notes.values() for note in some)
    with st.expander(label, expanded=lines is None and not is_busy):
        _fields(translator, None if own is None or lines is None else own.key)
        if every:
            say_of_lines(every)
    if job is not None:
        jobs.show(job)
    if own is None:
        if has_arrived() and raw_value(LINES) == OWN and not read_text(PASTED):
            st.text(
                "A reload or a link opens this page without your lines: paste them again, or open "
                "earlier results."
            )
        return None
    if lines is not None:
        file = Content(Path("headlight-corpus.safetensors"))  # as the page saves it
        name, key = "lines", name_of(own.key)
        list_file(name, lines, key, result_file.from_bytes, file, translator)
        return lines
    if not is_busy:
        why, label = "The server no longer has this measurement.", "Measure again"
        if not is_same:
            why, label = "These lines were measured with another model.", "Measure with this one"
        st.text(why)
        again = own_lines(model, own.texts, own.references, costs=own.costs)
        st.button(label, key="corpus-again", on_click=_measure, args=(again, translator.folder))
    return None


def own_lines(
    model: object, texts: tuple[str, ...], references: tuple[str, ...] | None, *, costs: bool
) -> OwnLines:
    """Name lines by their content, the model and the options."""
    return OwnLines(key_of(model, texts, references, costs), model, texts, references, costs)


def _fields(translator: Translator, key: str | None) -> None:
    """Draw the fields of lines and references, and those of a result file."""
    problems: list[object] = []
    left, right = st.columns(2, gap="medium")
    with left:
        texts = _texts("Sentences, one per line", PASTED, "or upload a text file", FILE, problems)
    with right:
        references = _texts(
            "Reference translations (optional), one per line",
            PASTED_REFERENCES,
            "or upload a text file of them",
            FILE_OF_REFERENCES,
            problems,
        )
    with st.container(key="corpus-measure-controls", horizontal=True):
        costs = _costs_switch(len(texts))
        heads = len(head.all_heads(translator.model.config))
        # no callback, which would have the lines of the run before
        is_pressed = st.button("Measure", key="corpus-measure")
        if texts:
            st.text(_forecast(len(texts), heads if costs else 0))
    if is_pressed and not problems:
        try:
            if not texts:
                raise InputError("There are no sentences yet: paste some, or upload a file.")
            size = len(texts) * heads * len(HEAD_MEASURES) * np.float32().nbytes
            if size > memory.shared_cache().limit:
                raise InputError(TOO_LARGE)
        except InputError as error:
            problems.append(error)
        else:
            own = own_lines(identity(translator), texts, references or None, costs=costs)
            _measure(own, translator.folder)
            st.rerun()
    with st.container(key="corpus-result-controls", horizontal=True):
        _open_result(translator)
        if key is not None:
            st.download_button(
                "Download the results",
                lambda: result_file.to_bytes(lines_of(key)),  # on the click alone
                "headlight-corpus.safetensors",
                "application/octet-stream",
                on_click="ignore",
                key="corpus-result",
            )
    st.caption(
        "Your lines stay in this tab. You lose them when you reload, and a link does not contain "
        "them: download the results to keep them."
    )
    for problem in [*problems, *filter(None, [st.session_state.get(_PROBLEM)])]:
        say(problem)


def _texts(
    label: str, pasted: str, label_of_file: str, uploaded: str, problems: list[object]
) -> tuple[str, ...]:
    """Draw the two fields of a text, of which a file counts first; return its lines."""
    text = text_area(
        label, key=pasted, most=MAX_TYPED, in_link=False, height=110, persist_state="session"
    )
    try:
        file = file_field(label_of_file, uploaded, (), MAX_BYTES)
        content = text.encode(errors="replace") if file is None else file[1]
        return tuple(decode_lines(content, MAX_LINES))
    except InputError as error:
        problems.append(error)
        return ()


def _costs_switch(count: int) -> bool:
    state = st.session_state
    is_few = count <= FEW
    if state.get(_FEW) != is_few:
        state[_FEW] = state[COSTS] = is_few
    return st.toggle(
        "Also measure the effect of removing each head (slower)",
        key=COSTS,
        persist_state="session",
        help="How much the loss grows when each head is removed, and its gradient on the head.",
    )


def _forecast(lines: int, heads: int) -> str:
    passes: dict[Part, int] = {"translate": 1, "measure": 1, "costs": heads}
    expected = seconds([PIECES] * lines, passes)
    time = f"{expected:.0f} seconds" if expected < 100 else f"{expected / 60:.0f} minutes"
    text = f"{counted(lines, 'line')}, about {time}."
    limit = f" The server stops after {jobs.LONGEST / 60:.0f} minutes: run {COMMAND}."
    return text + limit if expected >= jobs.LONGEST else text


def _measure(own: OwnLines, folder: Path) -> None:
    """Begin to measure lines in the background; what is shown stays until it is done."""

    def work(model: Translator, report: Progress) -> None:
        if remembered(own.key) is None:  # else another user has measured the same lines
            refs, costs = own.references, own.costs
            lines = measure_lines(model, own.texts, references=refs, costs=costs, progress=report)
            remember(own.key, lines)

    for key in (FILE, FILE_OF_REFERENCES):
        release_file(key)
    st.session_state[_PENDING] = own
    st.session_state.pop(_PROBLEM, None)
    title = f"Measuring {counted(len(own.texts), 'line')}"
    jobs.start_with_model(JOB, own.key, title, folder, work)


def _open_result(translator: Translator) -> None:
    """Draw the field of a result file; an invalid file gives a message and changes nothing."""
    state = st.session_state
    try:
        most = min(result_file.MAX_BYTES, served.MAX_UPLOAD_BYTES)
        file = file_field("Open earlier results", RESULT, ["safetensors"], most)
        if file is None:
            return
        content = file[1]
        release_file(RESULT)
        with st.spinner("Reading the file…"):
            lines = result_file.from_bytes(content, translator)
            key = key_of(identity(translator), sha256(content).hexdigest())
            remember(key, lines)
    except HeadlightError as error:
        state[_PROBLEM] = without_paths(error)
        return
    texts = tuple(pair.source for pair in lines.pairs)
    references = tuple(pair.reference for pair in lines.pairs)
    given = references if any(references) else None
    state[_OWN] = OwnLines(key, identity(translator), texts, given, COST in lines.head_values)
    state.pop(_PROBLEM, None)
    st.rerun()


def _notes(translator: Translator, lines: MeasuredLines) -> dict[str, list[tuple[int, str]]]:
    """Name the lines that were left out, and those to be read with care, by what is said of all."""
    notes: dict[str, list[tuple[int, str]]] = {
        "left out": [*lines.left_out],
        "without a word": [*lines.undefined],
        "with unknown characters": [
            (pair.number, "It has characters that the model does not know.")
            for pair in lines.pairs
            if config.UNK in pair.source_ids
        ],
    }
    if (domain := translator.domain) is not None:
        log_probs = list(map(per_subword, lines.log_probs, lines.subwords - 1))  # without `</s>`
        usual = f"usually above {format_number(domain.least_log_prob)} on {domain.made_for}."
        notes["of which the model is unsure"] = [
            (
                lines.pairs[row].number,
                f"The model is unsure: log P is {format_number(log_probs[row])} per subword before "
                f"its end, {usual}",
            )
            for row in np.flatnonzero(np.less(log_probs, domain.least_log_prob))
        ]
    return notes
