"""Take heads away, or patch them, and see what changes: never why the model decided."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translation, Translator
from transformer.analysis.axes import by_pieces
from transformer.analysis.corpus.head_report import MEANS_FILE
from transformer.analysis.distance import total_variation
from transformer.analysis.heads.effect import Effect, patched
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import removed
from transformer.kinds import KINDS
from viz.app import search_request, sentence_bar
from viz.app.candidates import MARKS, show_candidate
from viz.app.charts import altair_chart
from viz.app.explanations import code_line, explain
from viz.app.head_picker import head_buttons, open_head
from viz.app.late_clicks import say_late, show_late
from viz.app.mounts import mount, mount_grid, mount_painted_map
from viz.app.origin import origin_of
from viz.app.problems import without_paths
from viz.draw.attention_map import encode_map
from viz.draw.caption import head_caption
from viz.draw.formatting import format_number
from viz.draw.head_grid import GridPart, encode_grid
from viz.draw.labels import head_title
from viz.pages.roles.removal import controls as menus
from viz.pages.roles.removal.changes import (
    Change,
    How,
    fitting_changes,
    format_changes,
    parse_changes,
    switched,
)
from viz.pages.roles.removal.charts import word_log_probs, words_chart
from viz.pages.roles.removal.controls import Controls, choose_removed, removed_now
from viz.pages.roles.removal.effect import effect_of
from viz.pages.roles.removal.importance import remove_by_importance
from viz.pages.roles.removal.painting import paint_rows, painted_squares

MOST_CHANGED = 8
"""Heads that are named."""


def show() -> None:
    """The view: switch heads off, and see the translation, its log P and every other head."""
    if (bar := sentence_bar.traced()) is None:
        return
    translator, translation, trace = bar
    row = st.container(
        key="roles-controls", horizontal=True, vertical_alignment="bottom", gap="small"
    )
    above = st.container()
    left, right = st.columns([5, 7], gap="medium")
    with left:
        model, link = st.container(), st.container()
    controls = menus.draw(translator, row, link)
    with above:
        show_late()
        named, changes, effect = _effect(translator, translation, trace, controls)
    with model:
        _translation(controls, translation, changes, effect)
        _grid(controls, changes, effect)
    with right:
        if controls.how == "rows":
            paint_rows(trace, controls.head, named, choose_removed)
        _map(controls, changes, effect)
        _words(effect)
        _most_changed(effect)
        remove_by_importance(translator, changes, choose_removed)
    _explain()


def _effect(
    translator: Translator, translation: Translation, trace: AttentionTrace, controls: Controls
) -> tuple[list[Change], list[Change], Effect]:
    """The heads that the link names, those of them that are away, and what that changes.

    Says what is wrong with the others.
    """
    named, wrong = parse_changes(controls.removed, translator.model)
    donor, no_donor = menus.second_sentence(translator, controls, named)
    measured = (translator.folder / MEANS_FILE).exists()
    changes, unfitting = fitting_changes(named, trace, donor, measured=measured)
    effect, failed = Effect(trace, trace, translation), ""
    try:
        settings = sentence_bar.settings()
        effect = effect_of(translator, translation, trace, donor, changes, settings)
    except HeadlightError as error:
        changes, failed = [], without_paths(error)
    if problem := wrong or no_donor or unfitting or failed:
        st.text(problem)
    return named, changes, effect


def _grid(controls: Controls, changes: Sequence[Change], effect: Effect) -> None:
    """All heads under the removal, small; a click switches one."""
    kinds = sorted(KINDS, key=lambda kind: kind != controls.head.kind)
    parts = [
        GridPart(kind, effect.after.weights(kind), effect.after.labels(kind)) for kind in kinds
    ]
    paints = controls.how == "rows"
    request = sentence_bar.drawn_from().requested
    layers, heads = effect.before.weights(controls.head.kind).shape[:2]

    def picked(head: Head) -> None:
        if not search_request.has_model(request):
            say_late()
        elif paints:
            open_head(head)
        else:
            now = removed_now(layers, heads)
            choose_removed(format_changes(switched(now, head, controls.how)))

    data = encode_grid(
        parts,
        crossed=[change.head for change in changes],
        switches=not paints,
        key="roles-grid",
        caption=origin_of(effect.before).caption("every head.", _changed(changes)),
    )
    mount_grid("roles-grid", data, parts, selected=controls.head, on_pick=picked)


def _translation(
    controls: Controls, translation: Translation, changes: Sequence[Change], effect: Effect
) -> None:
    """What the model writes now, with what differs from the bar marked."""
    new = effect.translation
    old, now = float(effect.before.log_probs.sum()), float(effect.after.log_probs.sum())
    figures = f"log p {format_number(new.log_prob)}"
    if changes:
        figures += (
            f" · of the translation in the bar {format_number(now)}, "
            f"{format_number(now - old, sign=True)} by the change"
        )
    with st.container(key="removal-translation"):
        show_candidate(
            new.text, translation.text, figures, title=_headline(controls.how, changes, effect)
        )
    if changes:
        sentence_bar.show_notices_of(new)


def _headline(how: How, changes: Sequence[Change], effect: Effect) -> str:
    """How many heads are off, in words of our own."""
    total = sum(int(np.prod(effect.before.weights(kind).shape[:2])) for kind in KINDS)
    if not changes:
        does = "open it, then paint its rows" if how == "rows" else "switch it off"
        return f"All {total} heads are there: click one in the map to {does}."
    changed = "is changed" if len(changes) == 1 else "are changed"
    return f"{len(changes)} of {total} heads {changed}, and the model writes:"


def _map(controls: Controls, changes: Sequence[Change], effect: Effect) -> None:
    """The open head after, before, or the difference."""
    request, which = sentence_bar.drawn_from().requested, controls.which
    kind, layer, head = controls.head
    axes = by_pieces(effect.before, kind)
    at = layer, head
    layers, heads = effect.before.weights(kind).shape[:2]
    weights = {
        "after": effect.after.weights(kind)[at],
        "before": effect.before.weights(kind)[at],
        "difference": effect.after.weights(kind)[at] - effect.before.weights(kind)[at],
    }[which]
    signed, shape = which == "difference", weights.shape

    # Streamlit keeps it with the session: the weights would be a view of those of every head
    def on_paint(squares: list[tuple[int, int]]) -> None:
        if search_request.is_asked(request):
            now = removed_now(layers, heads)
            choose_removed(painted_squares(now, controls.head, shape, squares))
        else:
            say_late()

    paints = controls.how == "rows"
    title = f"{head_title(*controls.head)} · {which}"
    data = encode_map(
        weights,
        axes.labels,
        kind,
        title=title,
        languages=effect.before.languages,
        reads=axes.reads,
        writes=axes.writes,
        signed=signed,
        # most differences are small, and the legend says how they are coloured
        scale="square root" if signed else "linear",
        note=_note(controls),
        beside_difference=True,
        paints=paints,
        caption=origin_of(effect.before).caption(
            head_caption(kind, layer, head), f"{which}.", _changed(changes)
        ),
    )
    if paints:
        mount_painted_map("roles-map", data, title, axes.labels, on_paint)
    else:
        mount("roles-map", data)


def _note(controls: Controls) -> str | None:
    if controls.which == "difference":
        return "Each square is after minus before; rows sum to 0."
    if controls.how == "rows":
        return (
            "Press a square, or press and drag along its row, to paint; a painted row looks evenly "
            "at its painted squares."
        )
    return None


def _most_changed(effect: Effect) -> None:
    """The heads whose attention moved most, each a click away."""
    distances = most_changed(effect)
    st.subheader("Attention that changed most", anchor=False)
    if not distances:
        st.text("No head looks elsewhere.")
        return
    head_buttons("removal-open", [(head, f"{distance:.2f}") for head, distance in distances])


def most_changed(effect: Effect) -> list[tuple[Head, float]]:
    """The heads whose weights lie farthest from before, with the distance, largest first."""
    found: list[tuple[Head, float]] = []
    for kind in KINDS:
        apart: npt.NDArray[np.float64] = total_variation(
            effect.after.weights(kind),
            effect.before.weights(kind),
            causal=kind == "decoder_self" and effect.before.causal,
        )
        found += [(Head(kind, *map(int, at)), float(apart[at])) for at in np.ndindex(apart.shape)]
    found.sort(key=lambda one: -one[1])
    return [(head, value) for head, value in found[:MOST_CHANGED] if round(value, 2) > 0]


def _words(effect: Effect) -> None:
    """log P of each word of the old translation."""
    words, before = word_log_probs(effect.before, effect.before.log_probs)
    _, after = word_log_probs(effect.before, effect.after.log_probs)
    st.subheader("The translation in the bar, word by word", anchor=False)
    altair_chart(
        words_chart(words, before, after),
        key="removal-words",
        alt="log P of each word of the translation in the bar, before and after.",
    )


def _changed(changes: Sequence[Change]) -> str:
    """For a saved picture: which heads are changed in it."""
    return f"heads changed: {', '.join(one.name for one in changes) or 'none'}."


def _explain() -> None:
    explain(
        f"A head that is switched off stays in the model: a hook sets its output z, or its "
        f"weights, in this page's search and in the pass over the translation in the bar alone, "
        f"{code_line(removed)}, {code_line(patched)}. The page shows what changed when heads were "
        f"removed, never why the model decided; other heads can take over what one of them did. "
        f"The number at a head is the total variation between its rows before and after, mean "
        f"over the rows, but the first of decoder self-attention, which sees one key alone: "
        f"{code_line(total_variation)}; 0 is the same, 1 is not one key in common. "
        f"{MARKS}"
    )
