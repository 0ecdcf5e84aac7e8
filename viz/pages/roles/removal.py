"""The view “Remove heads”: heads are removed or patched, and what changes is shown, never why."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import partial
from html import escape

import numpy as np
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translation
from transformer.analysis.axes import by_words, first_pieces
from transformer.analysis.heads import means, measures
from transformer.analysis.heads.effect import Effect, effect, fitting_removals
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal, Replacement, patched, removed
from transformer.analysis.heads.removal_text import format_removals, parse_removals, toggled
from transformer.arrays import AnyFloats
from transformer.kinds import KINDS
from viz.app import jobs
from viz.app.cache import cached_results
from viz.app.chrome import charts, explanations, fields, mounts, problems
from viz.app.chrome.head_picker import head_buttons, open_head, set_removed
from viz.app.links import navigation
from viz.app.links.navigation import CORPUS_VIEW, REMOVE_HEADS, REMOVED
from viz.app.sentence import search_request, sentence_bar
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.sentence.translation_line import MARKS, show_candidate
from viz.app.view import list_result, view
from viz.draw import caption, head_grid
from viz.draw.attention_map import NOTE, Look, MapAxes, encode_map, squares_of
from viz.draw.formatting import format_number, listing
from viz.draw.labels import head_title, quoted
from viz.draw.open_head import heads_of_kind
from viz.figures.changes import words_chart
from viz.pages.roles import head_charts, removal_controls

MAX_CHANGED = 8  # largest number of heads in the list


@view(REMOVE_HEADS, needs="trace", question="What changes without a head?")
def remove_heads(bar: BarTranslation) -> None:
    """Switch heads off, and draw translation, log P and every other head."""
    translator, translation, trace = bar.translator, bar.translation, bar.trace
    row = fields.controls_row("roles-controls")
    above = st.container()
    left, right = st.columns([5, 7], gap="medium")
    with left:
        model, link = st.container(), st.container()
    controls = removal_controls.draw_controls(translator, trace, row, link)
    with above:
        mounts.show_outdated_notice()
        named, removals, changed = _effect(bar, controls)
    with model:
        _translation(controls, translation, removals, changed)
        _grid(bar, controls, removals, changed)
        if removals:
            sentence_bar.show_notices_of(bar, changed.translation)
            heads = format_removals([Removal(*removal.place) for removal in removals])
            choices = {CORPUS_VIEW: REMOVE_HEADS, REMOVED: heads}
            navigation.link("corpus", "Remove these heads from many lines", choices)
    with right:
        if controls.paints:
            removal_controls.paint_rows(bar, controls.head, named)
        _map(bar, controls, removals, changed)
        words = by_words(trace, "cross").labels.queries
        before, after = map(word_log_probs, (changed.before, changed.after))
        if removals:
            list_result(BEFORE, before, word_log_probs, changed.before)
            list_result("after", after, word_log_probs, changed.after)
        st.subheader("The original translation, word by word", anchor=False)
        charts.altair_chart(
            words_chart(
                words,
                "model",
                {BEFORE: before, AFTER: after},
                height=removal_controls.CHART_HEIGHT,
            ),
            key="removal-words",
            alt="Log probability of each word of the original translation, before and after.",
        )
        st.subheader("Where attention changed most", anchor=False)
        distances = most_changed(changed) if removals else []
        if removals:
            list_result("most", distances, most_changed, changed)
        if distances:
            head_buttons("removal-open", [(changed, f"{far:.2f}") for changed, far in distances])
            st.caption(
                "Number on a head: the share of its attention that moved (0 none, 1 all), averaged "
                "over rows, without the decoder's first one: it sees only one token."
            )
        else:
            st.text("No head changed where it looks.")
        removal_controls.remove_by_importance(translator, removals)
    explanations.explain(
        f"You see what changes without heads, never why: other heads can take over. {MARKS}"
        + explanations.sources("§3.2.2", removed, patched, measures.total_variation)
    )


def _effect(
    bar: BarTranslation, controls: removal_controls.Controls
) -> tuple[list[Removal], list[Removal], Effect]:
    """Return the heads of the link, those removed, and their effect."""
    translator, translation, trace = bar.translator, bar.translation, bar.trace
    named, problem = parse_removals(controls.removed, translator.model)
    donor, no_donor = removal_controls.second_sentence(bar, controls, named)
    measured = (translator.folder / means.FILE).exists()
    removals, unfitting = fitting_removals(named, trace, donor, measured=measured)
    problem = problem or no_donor or unfitting
    changed = Effect(trace, trace, translation)
    try:
        settings = bar.used.settings
        given = translation, trace, donor, removals, settings
        if removals:  # of a long sentence, it is in the cache then
            jobs.compute_measure(
                translator, trace, ("effect", settings, controls.removed, donor and donor.source),
                "Translating without these heads",
                lambda model, _: bool(cached_results.effect_of(model, *given)), at_once=64,
            )  # fmt: skip
        changed = cached_results.effect_of(translator, *given)
        if removals:
            search = search_request.arguments(settings)
            list_result("changed", changed, effect, translator, trace, removals, donor, **search)
    except HeadlightError as error:
        removals, problem = [], problem or problems.without_paths(error)
    if problem:
        st.text(problem)
    return named, removals, changed


def _grid(
    bar: BarTranslation,
    controls: removal_controls.Controls,
    removals: Sequence[Removal],
    effect: Effect,
) -> None:
    after, paints = effect.after, controls.paints
    kinds = sorted(KINDS, key=lambda kind: kind != controls.head.kind)
    heads = [heads_of_kind(after, kind) for kind in kinds]
    request = bar.requested
    shape = after.weights(controls.head.kind).shape[:2]

    def picked(head: Head) -> None:
        if not search_request.has_model(request):
            mounts.queue_outdated_notice()
        elif paints:
            open_head(head)
        else:
            now = removal_controls.removed_now(*shape)
            set_removed(format_removals(toggled(now, head, controls.replacement)))

    data = head_grid.encode_grid(
        heads,
        crossed=[removal.place for removal in removals],
        switches=not paints,
        answered=mounts.answered_click("roles-grid"),
        key="roles-grid",
        caption=bar.origin.caption(caption.grid_caption(), _changed(removals)),
    )
    mounts.mount_grid("roles-grid", data, heads, selected=controls.head, on_pick=picked)


def _translation(
    controls: removal_controls.Controls,
    translation: Translation,
    removals: Sequence[Removal],
    effect: Effect,
) -> None:
    new, old = effect.translation, translation.log_prob
    now = float(effect.after.log_probs.sum())
    total = sum(int(np.prod(effect.before.weights(kind).shape[:2])) for kind in KINDS)
    does = "open it, then paint its rows" if controls.paints else "remove it"
    title, figures = f"All {total} heads are there. Click one to {does}.", ""
    if removals:
        count, change = len(removals), f"{format_number(old)} → {format_number(now)}"
        heads = removals[0].place.title if count == 1 else f"{count} of {total} heads"
        how = "Without" if all(r.how == "zero" for r in removals) else "With changes in"
        title = f"{how} {heads}. {escape(describe_change(translation.text, new.text))}"
        figures = f"log probability {change}"
        if new.text != translation.text:
            figures = f"log probability: new translation {format_number(new.log_prob)}; original, "
            figures += f"scored with this change: {change}"
    with st.container(key="removal-translation"):
        show_candidate(new.text, translation.text, figures, title=title)


def describe_change(before: str, after: str) -> str:
    """Say in one sentence what changed heads did to the words of a translation, never why."""
    old, new = before.split(), after.split()
    texts = {"delete": "drops {0}", "insert": "adds {1}", "replace": "writes {1} instead of {0}"}
    changes = [
        texts[change].format(quoted(" ".join(old[a:b])), quoted(" ".join(new[c:d])))
        for change, a, b, c, d in SequenceMatcher(None, old, new, False).get_opcodes()
        if change != "equal"
    ]
    return f"It {listing(changes)}." if changes else "Same translation."


UNUSED: tuple[Replacement, ...] = ("zero", "mean", "z")
"""Replacements of a head's output, which leave its weights without use."""
SWITCHED_OFF = "removed: the model does not use these weights"


def _map(
    bar: BarTranslation,
    controls: removal_controls.Controls,
    removals: Sequence[Removal],
    effect: Effect,
) -> None:
    request, which = bar.requested, controls.which
    kind, layer, head = controls.head
    axes = MapAxes.of(effect.before, kind)
    after, before = (trace.weights(kind)[layer, head] for trace in (effect.after, effect.before))
    weights = {"after": after, "before": before, "difference": after - before}[which]
    signed, shape = which == "difference", weights.shape
    shape_of_heads = effect.before.weights(kind).shape[:2]

    # Streamlit keeps it with the session: the weights would be a view of those of every head
    def on_paint(squares: list[tuple[int, int]]) -> None:
        if squares and search_request.is_asked(request):
            now = removal_controls.removed_now(*shape_of_heads)
            set_removed(removal_controls.painted_squares(now, controls.head, shape, squares))
        else:
            mounts.queue_outdated_notice()

    note = "Each square: weight after minus before; rows sum to 0." if signed else NOTE
    if controls.paints and not signed:
        note = "Click a square, or drag along its row, to paint. "
        note += "The row then looks equally at its painted squares."
    unused = which != "before" and any(
        removal.place == controls.head and removal.how in UNUSED for removal in removals
    )
    title, labels = f"{head_title(*controls.head)} · {which}", axes.labels
    if unused:
        title += f" · {SWITCHED_OFF}"
    encode = partial(
        encode_map,
        weights,
        axes,
        title=title,
        # most differences are small, and the legend says how they are coloured
        look=Look(
            scale="square root" if signed else "linear",
            signed=signed,
            tall=True,
            paints=controls.paints,
            unused=unused,
        ),
        note=note,
        caption=bar.origin.caption(
            caption.head_caption(kind, layer, head), f"{which}.", _changed(removals)
        ),
    )
    if controls.paints:
        mounts.mount("roles-map", encode(), lambda sent: on_paint(squares_of(sent, title, labels)))
    else:
        mounts.mount_map("roles-map", labels, encode)


def most_changed(effect: Effect) -> list[tuple[Head, float]]:
    """Find the heads whose weights lie farthest from before, with the distance, largest first."""
    distances = {
        kind: measures.total_variation(
            effect.after.weights(kind),
            effect.before.weights(kind),
            causal=kind == "decoder_self" and effect.before.causal,
        )
        for kind in KINDS
    }
    largest = head_charts.heads_by_value(distances)[:MAX_CHANGED]
    return [(head, distance) for head, distance in largest if round(distance, 2) > 0]


def _changed(removals: Sequence[Removal]) -> str:
    return f"heads changed: {', '.join(removal.place.title for removal in removals) or 'none'}."


BEFORE, AFTER = "before", "with heads removed"


def word_log_probs(trace: AttentionTrace) -> AnyFloats:
    """Sum log P of the pieces of a translation over each word, `[word]`."""
    sums: AnyFloats = np.add.reduceat(trace.log_probs, first_pieces(trace.target_pieces))
    return sums
