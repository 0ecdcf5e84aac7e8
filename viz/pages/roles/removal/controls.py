"""Controls of the view “Take away”: menus, painted rows, and removal by importance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException

from transformer import AttentionTrace, CheckpointError, HeadlightError, Translator
from transformer.analysis.axes import by_pieces
from transformer.analysis.corpus.head_report import COMMAND, Curve, HeadReport
from transformer.analysis.heads.head import Head
from viz.app.cache import cached_results
from viz.app.cache.memory import memo
from viz.app.chrome.charts import draw_spec, spec_of
from viz.app.chrome.fields import choose_one, controls_row, text_field
from viz.app.chrome.head_picker import open_head, pick_head
from viz.app.chrome.mounts import say_late
from viz.app.links.role_views import REMOVED, TAKE_AWAY, VIEW
from viz.app.links.undo import History
from viz.app.sentence import search_request, sentence_bar
from viz.draw.formatting import format_number
from viz.draw.labels import display_tokens, row_names
from viz.pages.roles.removal.changes import Change, How, format_changes, paint_row, parse_changes
from viz.pages.roles.removal.charts import curve_chart
from viz.pages.roles.stored_report import report_state, stored_report

HOW, WHICH, DONOR = "removed_how", "removed_map", "donor"
"""Names in the URL."""

HOWS: dict[str, How] = {
    "zero": "zero",
    "uniform": "uniform",
    "mean": "mean",
    "painted": "rows",
    "patched z": "z",
    "patched map": "weights",
}
"""Replacements by their name on the screen and in the URL."""

_HELP = "  \n".join(
    (
        "What stands in the place of a head that is switched off.",
        "**zero**: its output z is 0",
        "**uniform**: each row looks evenly at all that it may see",
        "**mean**: z is its mean over a corpus, where that was measured",
        "**painted**: rows of the open head look where you say",
        "**patched z**, **patched map**: its z, or its weights, on a second sentence of the same "
        "shape",
    )
)

MapChoice = Literal["after", "before", "difference"]


@dataclass(frozen=True)
class Controls:
    """Choices of the view.

    Args:
        head: the open head.
        how: replacement of a head that the next click removes.
        removed: the removed heads, as text of the link.
        which: the map of the open head that is drawn.
    """

    head: Head
    how: How
    removed: str
    which: MapChoice


def draw(translator: Translator, row: DeltaGenerator, below: DeltaGenerator) -> Controls:
    """Draw the controls into `row`, and the text of the link into `below`."""
    with below:
        removed = st.text_input(
            "Heads that are off, as in the link",
            key=REMOVED,
            bind="query-params",
            help="c1.3 is head 3 of layer 1 of cross-attention, counted from 0, with e for the "
            "encoder and d for the decoder; u after it is uniform, m the mean, z and w patched.",
            placeholder="none",
            autocomplete="off",
        )
    history = session_history()
    history.see(removed or "", 0.0)
    with row:
        head = pick_head(translator)
        how = st.selectbox("By", list(HOWS), key=HOW, bind="query-params", width=185, help=_HELP)
        undo_buttons(history, choose_removed)
        which = choose_one("Map", get_args(MapChoice), WHICH)
    return Controls(head, HOWS[how], (removed or "").strip(), which)


def choose_removed(text: str) -> None:
    """Set the removed heads for the next run of the page, as text of the link."""
    st.session_state[REMOVED] = text


def current_changes(layers: int, heads: int) -> list[Change]:
    """Return the heads that are removed when a click arrives.

    The page that was clicked may show fewer: a quick second click interrupts the run of the first.

    Args:
        layers: number of layers. The model itself is not passed, because Streamlit keeps the
            arguments of callbacks in memory; heads that it does not have are dropped, as is a
            repeated one.
        heads: number of heads of each layer.
    """
    named, _ = parse_changes(st.session_state.get(REMOVED) or "", None)
    valid = [change for change in named if change.head.layer < layers and change.head.head < heads]
    first = {change.head: change for change in reversed(valid)}
    return [change for change in valid if first[change.head] is change]


def second_sentence(
    translator: Translator, controls: Controls, changes: Sequence[Change]
) -> tuple[AttentionTrace | None, str]:
    """Return the second sentence's trace, or None with a message on what is wrong, or "".

    Draw its field where a head is to be patched from it.
    """
    patches = [change for change in changes if change.how in ("z", "weights")]
    if controls.how not in ("z", "weights") and not patches:
        return None, ""
    text = text_field(
        "Second sentence, from which heads are patched",
        key=DONOR,
        placeholder=f"As many {translator.source_language} and {translator.target_language} pieces "
        "as the one in the bar",
    )
    if not text.strip():
        return None, ""
    try:
        translation = cached_results.translate(
            translator, text, st.session_state[sentence_bar.BEAM]
        )
        return cached_results.trace(translator, translation), ""
    except HeadlightError as error:
        return None, f"Second sentence: {error}"


def open_removal(head: Head) -> None:
    """Open this view in the next run, with this head removed and open."""
    open_head(head)
    st.session_state[VIEW] = TAKE_AWAY
    st.session_state[REMOVED] = removed = format_changes([Change(head)])
    # the field is not on the page yet, so the address is set here; after a double click the field
    # exists, and Streamlit refuses
    with suppress(StreamlitAPIException):
        st.query_params[REMOVED] = removed


_HISTORY = "removal.history"


def session_history() -> History[str]:
    """Return the session's history of link texts."""
    history: History[str] = st.session_state.setdefault(_HISTORY, History())
    return history


def undo_buttons(history: History[str], choose: Callable[[str], None]) -> None:
    """Draw undo, redo and “all back”, which set the link by `choose`."""
    st.button(
        "Undo",
        key="removal-undo",
        disabled=not history.before,
        on_click=lambda: choose(history.undo() or ""),
    )
    st.button(
        "Redo",
        key="removal-redo",
        disabled=not history.undone,
        on_click=lambda: choose(history.redo() or ""),
    )
    st.button("All back", key="removal-none", disabled=not history.now, on_click=lambda: choose(""))


_ROW, _KEYS = "removal-row", "removal-keys"


def paint_rows(
    trace: AttentionTrace,
    head: Head,
    changes: Sequence[Change],
    choose: Callable[[str], None],
) -> None:
    """Draw the menus that paint a row of the open head, and set the link by `choose`."""
    request = sentence_bar.drawn_from().requested
    axes = by_pieces(trace, head.kind)
    names = row_names(axes.labels.queries, reads=axes.reads, writes=axes.writes)
    tokens = display_tokens(axes.labels.keys)
    if isinstance(row := st.session_state.get(_ROW), int):
        st.session_state[_ROW] = min(row, len(names) - 1)  # another sentence may have fewer
    with controls_row("painting"):
        row = st.selectbox(
            "Paint",
            range(len(names)),
            format_func=lambda n: f"{n + 1} {names[n]}",
            key=_ROW,
        )
        shape = len(names), len(tokens)
        st.session_state[_KEYS] = list(painted_rows(changes, head, shape).get(row, ()))

        layers, heads = trace.weights(head.kind).shape[:2]

        def paint() -> None:
            if search_request.is_asked(request):
                keys = st.session_state[_KEYS]
                current = current_changes(layers, heads)
                choose(format_changes(paint_row(current, head, shape, row, keys)))
            else:
                say_late()

        st.multiselect(
            "so that it looks evenly at",
            # the causal mask hides later keys from a row of the decoder
            range(row + 1 if head.kind == "decoder_self" else len(tokens)),
            format_func=lambda n: f"{n + 1} {tokens[n]}",
            key=_KEYS,
            placeholder="as it was: choose tokens",
            on_change=paint,
        )


def painted_rows(
    changes: Sequence[Change], head: Head, shape: tuple[int, int]
) -> dict[int, tuple[int, ...]]:
    """Return the painted rows of a head on a map of this shape, with their keys."""
    return {
        row: keys
        for change in changes
        if change.head == head and change.how == "rows" and change.shape == shape
        for row, keys in change.rows
    }


def toggle_squares(
    changes: Sequence[Change],
    head: Head,
    shape: tuple[int, ...],
    squares: Sequence[tuple[int, int]],
) -> str:
    """Return the text of the link after squares were pressed: their row's painted keys are toggled.

    Args:
        changes: the current changes.
        head: the open head.
        shape: numbers of queries and keys of its map.
        squares: (row, key) pairs of one row, at least one; all follow the first one.
    """
    queries, keys = shape
    row, first = squares[0]
    before = set(painted_rows(changes, head, (queries, keys)).get(row, ()))
    # the causal mask hides later keys from a row of the decoder
    pressed = {key for _, key in squares if head.kind != "decoder_self" or key <= row}
    after = before - pressed if first in before else before | pressed
    return format_changes(paint_row(changes, head, (queries, keys), row, sorted(after)))


ORDER = "removal_order"
"""Name in the URL of the measure that gives the order."""
_COUNT = "removal-count"


def remove_by_importance(
    translator: Translator, changes: Sequence[Change], choose: Callable[[str], None]
) -> None:
    """Draw the slider, which sets the link by `choose`, and the curve, or how to measure it."""
    st.subheader("Remove by importance", anchor=False)
    try:
        report = stored_report(translator)
    except CheckpointError as error:
        st.text(str(error))
        return
    if report is None:
        st.text(
            f"The importance of the heads was not measured for this model: run {COMMAND} "
            f"--checkpoint {translator.folder} --src FILE --ref FILE, with "
            f"{translator.source_language} and {translator.target_language} text line by line."
        )
        return
    if not report.curves:
        st.text(f"The report of the heads has no curve of BLEU: run {COMMAND} again.")
        return
    measure = st.selectbox(
        "Least important first, by", list(report.curves), key=ORDER, bind="query-params"
    )
    curve = report.curves[measure]
    removed = position_on_curve(curve, changes)
    st.session_state[_COUNT] = removed or 0
    st.slider(
        f"How many of the {len(curve.order)} heads are away, each with z = 0",
        0,
        len(curve.order),
        key=_COUNT,
        on_change=lambda: choose(first_heads(curve, st.session_state[_COUNT])),
    )
    # most clicks do not change the position on the curve
    state = "curve", report_state(translator), measure, removed
    draw_spec(
        memo(state, lambda: spec_of(curve_chart(curve, removed))),
        key="removal-curve",
        alt="BLEU of the model over the number of heads that are taken away.",
    )
    st.caption(_caption(report, curve, removed))


def position_on_curve(curve: Curve, changes: Sequence[Change]) -> int | None:
    """Return the number of removed heads if they are the first of the curve, else None."""
    expected = set(curve.order[: len(changes)])
    is_curve = expected == {change.head for change in changes}
    return len(changes) if is_curve and all(change.how == "zero" for change in changes) else None


def first_heads(curve: Curve, count: int) -> str:
    """Format the first heads of a curve as text of the link."""
    return format_changes([Change(head) for head in curve.order[:count]])


def _caption(report: HeadReport, curve: Curve, removed: int | None) -> str:
    source = (
        f"BLEU of greedy translations of {report.bleu_sentences:,} sentences, which are among "
        f"those that gave the order, with its 95 % bootstrap interval."
    )
    if removed is None:
        return (
            f"{source} The heads that are off now are not the first of this order, or are not set "
            f"to z = 0."
        )
    below = max(
        (point for point in curve.points if point.removed <= removed),
        key=lambda point: point.removed,
    )
    above = min(
        (point for point in curve.points if point.removed >= removed),
        key=lambda point: point.removed,
    )
    all_heads = f"with all heads {format_number(report.bleu.value)}"
    if below == above:
        return f"{source} With {removed} away {format_number(below.bleu.value)}, {all_heads}."
    return (
        f"{source} With {below.removed} away {format_number(below.bleu.value)}, with "
        f"{above.removed} {format_number(above.bleu.value)}, {all_heads}."
    )
