"""Controls of the view “Remove heads”: menus, painted rows, and the order of importance."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import altair as alt
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, CheckpointError, HeadlightError, Translator
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads import means
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal, Replacement
from transformer.analysis.heads.removal_text import format_removals, parse_removals, with_row
from transformer.corpus import head_report
from transformer.corpus.head_report import Curve, HeadReport
from viz.app import jobs
from viz.app.cache import cached_results
from viz.app.chrome import charts, mounts, problems
from viz.app.chrome.fields import (
    choose_one,
    clamp_choice,
    controls_row,
    menu,
    read_text,
    text_field,
)
from viz.app.chrome.head_picker import open_head, pick_head, removed_field, set_removed
from viz.app.links import address, navigation
from viz.app.sentence import search_request, worth_seeing
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import cached, compute, part
from viz.draw import formatting
from viz.draw.labels import display_tokens, measure_name, row_names
from viz.figures import forms
from viz.figures.axes import VIOLET

HOW, WHICH, DONOR = "removed_how", "removed_map", "donor"  # names in the URL

REPLACEMENTS: dict[str, Replacement] = {
    "zero": "zero",
    "uniform": "uniform",
    "mean": "mean",
    "painted": "rows",
    "patched z": "z",
    "patched map": "weights",
}
"""Replacements of a head by their names on the screen and in the URL."""

_HELP = (
    "What replaces the output of a removed head.  \n"
    "**zero**: zeros  \n"
    "**uniform**: each row looks equally at every token that it may see  \n"
    "**mean**: its mean output over many sentences, if that was measured  \n"
    "**painted**: rows of the open head look where you paint  \n"
    "**patched z**, **patched map**: its output z, or its weights, from a second sentence with as "
    "many subwords"
)

CHART_HEIGHT = 240  # CSS pixels, without legend and words

Which = Literal["after", "before", "difference"]

_ASKED = "removal.asked"
"""In the session: the sentence and the removed heads for which the next head is asked."""


@dataclass(frozen=True)
class Controls:
    """The open head, how the next click changes one, the text of those changed, and the map."""

    head: Head
    replacement: Replacement
    removed: str
    which: Which

    @property
    def paints(self) -> bool:
        """True if the user paints rows of the open head."""
        return self.replacement == "rows"


def draw_controls(
    translator: Translator, trace: AttentionTrace, row: DeltaGenerator, below: DeltaGenerator
) -> Controls:
    """Draw the controls, the field with the heads that are off into `below`."""
    with row:
        _remove_needed(translator, trace)
    with below:
        removed = removed_field()
    with row:
        head = pick_head(translator, worth_seeing.default_choices("roles", translator, trace))
        restore = partial(set_removed, "")
        st.button(
            "Restore all",
            key="removal-none",
            disabled=not removed,
            type="tertiary",
            on_click=restore,
        )
        with st.popover("Options", key="removal-options"):
            how = menu("Replace its output with", list(REPLACEMENTS), HOW, width=280, help=_HELP)
            which = choose_one("Map", get_args(Which), WHICH, labelled=True)
    return Controls(head, REPLACEMENTS[how], removed.strip(), which)


def _remove_needed(translator: Translator, trace: AttentionTrace) -> None:
    """Draw the button that removes the head that the sentence needs most of those left.

    It stands before the field of the removed heads is drawn, so that it may set it.
    """
    now, _ = parse_removals(read_text(navigation.REMOVED), translator.model)
    off = tuple(removal.place for removal in now)
    asked = off, cached_results.key_of(translator, trace)
    if st.button(
        "Remove the head this sentence needs most",
        key="removal-needed",
        icon=":material/heart_broken:",
        help="Press again to remove the next one, in the same order as Break it on Translate.",
    ):
        st.session_state[_ASKED] = asked
    if st.session_state.get(_ASKED) != asked:
        return

    title, more = "Removing one head after another", len(off) + 1
    work = partial(cached_results.needed_heads, trace, more)
    order = jobs.compute_measure(translator, trace, ("needed", more), title, work)
    del st.session_state[_ASKED]
    if (head := next((head for head in order.heads if head not in off), None)) is not None:
        open_head(head)
        set_removed(format_removals([*now, Removal(*head)]))


def removed_now(layers: int, heads: int) -> list[Removal]:
    """Return the heads that are off when a click arrives.

    Those of the page that was clicked can be fewer: a quick second click ends the run of the first.
    Heads that the model does not have, or that the link names twice, are left out.

    The model itself is not an argument, since a click's handler stays in memory with the tab.
    """
    removals, _ = parse_removals(read_text(navigation.REMOVED), None)
    first = {removal.place: removal for removal in reversed(removals)}
    return [r for r in removals if first[r.place] is r and r.layer < layers and r.head < heads]


def second_sentence(
    bar: BarTranslation, controls: Controls, removals: Sequence[Removal]
) -> tuple[AttentionTrace | None, str]:
    """Draw the field of the second sentence, if needed; return its trace, and a message or ""."""
    replacements = {controls.replacement, *(removal.how for removal in removals)}
    if not replacements & {"z", "weights"}:
        return None, ""
    translator = bar.translator
    text = text_field(
        "Second sentence, from which heads are patched",
        key=DONOR,
        placeholder=f"As many {translator.source_language} and {translator.target_language} "
        "subwords as the first sentence",
    )
    if not text.strip():
        return None, ""
    try:
        return cached_results.trace(translator, bar.translate(text)), ""
    except HeadlightError as error:
        return None, f"Second sentence: {problems.without_paths(error)}"


def open_removal(head: Head) -> None:
    """Open the view “Remove heads” in the next run, with this head removed and open."""
    open_head(head)
    st.session_state[navigation.VIEW] = navigation.REMOVE_HEADS
    st.session_state[navigation.REMOVED] = removed = format_removals([Removal(*head)])
    # the field that holds it is not on the page yet, so nothing else puts it into the address
    address.choose(navigation.REMOVED, removed)


_ROW, _KEYS = "removal-row", "removal-keys"


def paint_rows(bar: BarTranslation, head: Head, removals: Sequence[Removal]) -> None:
    """Draw the menus that paint a row of the open head, where some heads are changed already."""
    request, trace = bar.requested, bar.trace
    axes = by_pieces(trace, head.kind)
    names = row_names(axes.labels.queries, reads=axes.reads, writes=axes.writes)
    tokens = display_tokens(axes.labels.keys)
    clamp_choice(_ROW, len(names))  # another sentence may have fewer rows
    with controls_row("painting"):
        rows = range(len(names))
        row = st.selectbox("Paint row", rows, format_func=lambda n: f"{n + 1} {names[n]}", key=_ROW)
        shape = len(names), len(tokens)
        st.session_state[_KEYS] = list(painted_rows(removals, head, shape).get(row, ()))

        shape_of_heads = trace.weights(head.kind).shape[:2]

        def chosen() -> None:
            if search_request.is_asked(request):
                now, keys = removed_now(*shape_of_heads), st.session_state[_KEYS]
                set_removed(format_removals(with_row(now, head, shape, row, keys)))
            else:
                mounts.queue_outdated_notice()

        st.multiselect(
            "so that it looks equally at",
            # its mask shows a row of the decoder nothing that comes later
            range(row + 1 if head.kind == "decoder_self" else len(tokens)),
            format_func=lambda n: f"{n + 1} {tokens[n]}",
            key=_KEYS,
            placeholder="unchanged: choose tokens",
            on_change=chosen,
        )


def painted_rows(
    removals: Sequence[Removal], head: Head, shape: tuple[int, int]
) -> dict[int, tuple[int, ...]]:
    """Return the rows of a head that are painted on a map of this shape, with their keys."""
    return {
        row: keys
        for removal in removals
        if removal.place == head and removal.shape == shape
        for row, keys in removal.rows
    }


def painted_squares(
    removals: Sequence[Removal], head: Head, shape: tuple[int, ...], squares: list[tuple[int, int]]
) -> str:
    """Return the text of the link after squares of a row were pressed, all set as the first."""
    queries, keys = shape
    row, first = squares[0]
    before = set(painted_rows(removals, head, (queries, keys)).get(row, ()))
    # what comes later is hidden from a row of the decoder
    pressed = {key for _, key in squares if head.kind != "decoder_self" or key <= row}
    after = before - pressed if first in before else before | pressed
    return format_removals(with_row(removals, head, (queries, keys), row, sorted(after)))


_COUNT = "removal-count"


def remove_by_importance(translator: Translator, removals: Sequence[Removal]) -> None:
    """Draw the slider of the removals and the BLEU curve, or the command that measures it."""
    st.subheader("Remove by importance", anchor=False)
    try:
        report = compute("report", head_report.read, translator.folder, translator.model.config)
    except CheckpointError as error:
        problems.say(error)
        return
    if report is None:
        st.text(
            f"The importance of this model's heads is not measured yet: run {means.COMMAND} "
            f"--checkpoint {translator.folder.name} --src FILE --ref FILE, with "
            f"{translator.source_language} and {translator.target_language} sentences line by line."
        )
        return
    if not report.curves:
        st.text(f"The report of the heads has no curve of BLEU: run {means.COMMAND} again.")
        return
    measure = menu("Order by", list(report.curves), "removal_order", format_func=measure_name)
    curve: Curve = part("curve", report.curves, measure)
    order = [Removal(*head) for head in curve.order]
    # the place on the curve, if the removed heads are its first, and each set to zero
    at = len(removals) if {*order[: len(removals)]} == {*removals} else None
    st.session_state[_COUNT] = at or 0
    st.slider(
        "Remove this many of the least important heads (zeros replace their outputs)",
        0,
        len(curve.order),
        key=_COUNT,
        on_change=lambda: set_removed(format_removals(order[: st.session_state[_COUNT]])),
    )
    # most clicks leave the place on the curve as it was
    charts.altair_chart(
        cached(curve_spec, curve, at),
        key="removal-curve",
        alt="BLEU of the model over the number of removed heads.",
    )
    st.caption(_note(report, curve, at))


def _note(report: HeadReport, curve: Curve, at: int | None) -> str:
    """Say what was measured, and where on the curve the page is."""
    measurement = f"BLEU on {report.bleu_sentences:,} sentences (band: 95 %)."
    if at is None:
        return f"{measurement} Your current selection is not on this curve."
    bleu = {point.removed: formatting.format_number(point.bleu.value) for point in curve.points}
    below, above = max(n for n in bleu if n <= at), min(n for n in bleu if n >= at)
    between = "" if below == above else f", with {above}: {bleu[above]}"
    return (
        f"{measurement} With {below} removed: {bleu[below]}{between}, with all heads: "
        f"{formatting.format_number(report.bleu.value)}."
    )


def curve_spec(curve: Curve, at: int | None) -> dict[str, Any]:
    """Return `curve_chart` as a browser draws it."""
    return charts.spec_of(curve_chart(curve, at))


def curve_chart(curve: Curve, at: int | None) -> alt.LayerChart:
    """Draw BLEU over the heads taken away, its interval as a band, and the place of the page."""
    table = pd.DataFrame(
        [(p.removed, *p.bleu) for p in curve.points], columns=["removed", "value", "low", "high"]
    )
    scale = alt.Scale(domain=[0, len(curve.order)], nice=False)
    axis = alt.Axis(grid=False, tickMinStep=1)
    x = alt.X("removed:Q", title="removed heads", scale=scale, axis=axis)
    y = alt.Y("value:Q", title="BLEU", scale=alt.Scale(zero=True))
    titles = {"value": "BLEU", "low": "95 % from", "high": "to"}
    numbers = {column: (title, ".2f") for column, title in titles.items()}
    base = alt.Chart(table, height=CHART_HEIGHT)
    band = base.mark_area(color=VIOLET, opacity=0.2).encode(x, alt.Y("low:Q"), alt.Y2("high:Q"))
    dots = alt.OverlayMarkDef(size=40, filled=True, color=VIOLET)
    line = base.mark_line(color=VIOLET, strokeWidth=2, point=dots).encode(
        x, y, tooltip=forms.tips(removed=("removed heads", ""), **numbers)
    )
    if at is None:
        return band + line
    return band + line + forms.rule("removed", at, strokeDash=[4, 3], strokeWidth=2)
