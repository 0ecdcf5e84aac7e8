"""The view “Take away”: remove or patch heads, and see the change, never why the model decided."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import numpy.typing as npt
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translation, Translator
from transformer.analysis.axes import by_pieces
from transformer.analysis.corpus.head_report import MEANS_FILE
from transformer.analysis.distance import total_variation
from transformer.analysis.heads.effect import Effect, effect, patched
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import removed
from transformer.decoding.settings import SearchSettings
from transformer.kinds import KINDS
from viz.app.cache import cached_results
from viz.app.cache.memory import memo, state_of_file
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.explanations import code_line, explain
from viz.app.chrome.fields import controls_row
from viz.app.chrome.head_picker import head_buttons, open_head
from viz.app.chrome.mounts import mount, mount_grid, mount_painted_map, say_late, show_late
from viz.app.sentence import search_request, sentence_bar
from viz.app.sentence.candidates import MARKS, show_candidate
from viz.app.sentence.origin import origin_of
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
    to_removal,
    toggle_head,
)
from viz.pages.roles.removal.charts import word_log_probs, words_chart
from viz.pages.roles.removal.controls import (
    Controls,
    choose_removed,
    current_changes,
    paint_rows,
    remove_by_importance,
    toggle_squares,
)

MOST_CHANGED = 8
"""Most changed heads that are listed."""


def show() -> None:
    """Draw the view: head toggles, the new translation, its log P and the changed maps."""
    if (bar := sentence_bar.traced()) is None:
        return
    translator, translation, trace = bar
    row = controls_row("roles-controls")
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
    """Parse the link and compute the effect of its changes; draw the first problem.

    Returns:
        The changes of the link, those of them that fit this sentence, and their effect.
    """
    named, link_problem = parse_changes(controls.removed, translator.model)
    donor, donor_problem = menus.second_sentence(translator, controls, named)
    measured = (translator.folder / MEANS_FILE).exists()
    changes, sentence_problem = fitting_changes(named, trace, donor, measured=measured)
    effect, model_problem = Effect(trace, trace, translation), ""
    try:
        settings = sentence_bar.settings()
        effect = cached_effect(translator, translation, trace, donor, changes, settings)
    except HeadlightError as error:
        changes, model_problem = [], str(error)
    if problem := link_problem or donor_problem or sentence_problem or model_problem:
        st.text(problem)
    return named, changes, effect


def _grid(controls: Controls, changes: Sequence[Change], effect: Effect) -> None:
    """Draw the small maps of all heads with the changes; a click toggles a head."""
    kinds = sorted(KINDS, key=lambda kind: kind != controls.head.kind)
    parts = [
        GridPart(kind, effect.after.weights(kind), effect.after.labels(kind)) for kind in kinds
    ]
    paints = controls.how == "rows"
    request = sentence_bar.drawn_from().requested
    layers, heads = effect.before.weights(controls.head.kind).shape[:2]

    def pick(head: Head) -> None:
        if not search_request.has_model(request):
            say_late()
        elif paints:
            open_head(head)
        else:
            current = current_changes(layers, heads)
            choose_removed(format_changes(toggle_head(current, head, controls.how)))

    data = encode_grid(
        parts,
        crossed=[change.head for change in changes],
        switches=not paints,
        key="roles-grid",
        caption=origin_of(effect.before).caption("every head.", _changed(changes)),
    )
    mount_grid("roles-grid", data, parts, selected=controls.head, on_pick=pick)


def _translation(
    controls: Controls, translation: Translation, changes: Sequence[Change], effect: Effect
) -> None:
    """Draw the new translation, with differences from the bar marked."""
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
    total = sum(int(np.prod(effect.before.weights(kind).shape[:2])) for kind in KINDS)
    if not changes:
        action = "open it, then paint its rows" if how == "rows" else "switch it off"
        return f"All {total} heads are there: click one in the map to {action}."
    changed = "is changed" if len(changes) == 1 else "are changed"
    return f"{len(changes)} of {total} heads {changed}, and the model writes:"


def _map(controls: Controls, changes: Sequence[Change], effect: Effect) -> None:
    """Draw the open head after, before, or the difference."""
    request, which = sentence_bar.drawn_from().requested, controls.which
    kind, layer, head = controls.head
    axes = by_pieces(effect.before, kind)
    place = layer, head
    layers, heads = effect.before.weights(kind).shape[:2]
    weights = {
        "after": effect.after.weights(kind)[place],
        "before": effect.before.weights(kind)[place],
        "difference": effect.after.weights(kind)[place] - effect.before.weights(kind)[place],
    }[which]
    signed, shape = which == "difference", weights.shape

    # Streamlit keeps this callback: closing over `weights` would keep the maps of all heads alive
    def on_paint(squares: list[tuple[int, int]]) -> None:
        if search_request.is_asked(request):
            current = current_changes(layers, heads)
            choose_removed(toggle_squares(current, controls.head, shape, squares))
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
        # most differences are small
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
    """Draw the heads whose attention changed most, each with a button that opens it."""
    distances = most_changed(effect)
    st.subheader("Attention that changed most", anchor=False)
    if not distances:
        st.text("No head looks elsewhere.")
        return
    head_buttons("removal-open", [(head, f"{distance:.2f}") for head, distance in distances])


def most_changed(effect: Effect) -> list[tuple[Head, float]]:
    """Return the heads with the largest distance from before, largest first."""
    distances: list[tuple[Head, float]] = []
    for kind in KINDS:
        moved: npt.NDArray[np.float64] = total_variation(
            effect.after.weights(kind),
            effect.before.weights(kind),
            causal=kind == "decoder_self" and effect.before.causal,
        )
        distances += [
            (Head(kind, *map(int, place)), float(moved[place])) for place in np.ndindex(moved.shape)
        ]
    distances.sort(key=lambda pair: -pair[1])
    return [(head, value) for head, value in distances[:MOST_CHANGED] if round(value, 2) > 0]


def _words(effect: Effect) -> None:
    words, before = word_log_probs(effect.before, effect.before.log_probs)
    _, after = word_log_probs(effect.before, effect.after.log_probs)
    st.subheader("The translation in the bar, word by word", anchor=False)
    altair_chart(
        words_chart(words, before, after),
        key="removal-words",
        alt="log P of each word of the translation in the bar, before and after.",
    )


def _changed(changes: Sequence[Change]) -> str:
    return f"heads changed: {', '.join(change.name for change in changes) or 'none'}."


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


def cached_effect(
    translator: Translator,
    translation: Translation,
    trace: AttentionTrace,
    donor: AttentionTrace | None,
    changes: Sequence[Change],
    settings: SearchSettings,
) -> Effect:
    """Return the sentence before and after the changes, from the cache where possible.

    Raises:
        InputError: if the model does not support a change.
    """
    if not changes:
        return Effect(trace, trace, translation)
    patches = any(change.how in ("z", "weights") for change in changes)
    means = translator.folder / MEANS_FILE  # a command may rewrite it
    key = (
        "heads taken away",
        cached_results.identity(translator),
        state_of_file(means) if any(change.how == "mean" for change in changes) else None,
        cached_results.trace_identity(trace),
        cached_results.trace_identity(donor) if donor and patches else None,
        settings,
        format_changes(changes),
    )

    def search() -> tuple[AttentionTrace, Translation]:
        result = _compute(translator, trace, donor, changes, settings)
        return result.after, result.translation

    return Effect(trace, *memo(key, search))


def _compute(
    translator: Translator,
    trace: AttentionTrace,
    donor: AttentionTrace | None,
    changes: Sequence[Change],
    settings: SearchSettings,
) -> Effect:
    patches = [change.head for change in changes if change.how == "z"]
    patching: AbstractContextManager[None] = nullcontext()
    if patches:
        assert donor is not None  # checked by `fitting_changes`
        patching = patched(translator.model, donor, patches)
    removals = [to_removal(change, trace, donor) for change in changes if change.how != "z"]
    with patching:
        return effect(
            translator,
            trace,
            removals,
            should_stop=cached_results.SearchBudget(),
            **settings.arguments,
        )
