"""The view “Remove heads”: what the removal of any heads costs over all lines, never why."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from transformer import Translator
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_text import format_removals, parse_removals, toggled
from transformer.corpus import comparison, resampling
from transformer.corpus.measured import COST, HeadMeans, MeasuredLines, head_means
from transformer.corpus.removal import (
    CHANGE,
    LinesWithout,
    RemovalSummary,
    changes_table,
    lines_without,
    summarise_removal,
)
from viz.app.chrome import charts, explanations, head_picker
from viz.app.chrome.fields import controls_row, menu, whole_number
from viz.app.links import address, navigation
from viz.app.view import Offer, cached, compute, compute_on_request, figure, view
from viz.draw.formatting import counted, format_number, format_p, per_cent
from viz.draw.labels import KINDS_BY_NAME, SCREEN_NAMES, measure_name
from viz.figures import changes
from viz.pages.corpus.lines import choose_lines
from viz.pages.corpus.measurements import first_head
from viz.pages.corpus.search import lines_table

JOB = "corpus-removal"
ALL_KINDS = "all kinds"
MAX_HEADS, MAX_WORDS, MAX_LINES = 20, 6, 20
"""Heads of one choice by a measure; rows of the tables of words and of lines."""


class TriedSet(NamedTuple):
    """Heads whose removal this session has measured on the lines."""

    heads: tuple[Head, ...]
    change: float
    p: float
    control_p: float


@view(
    navigation.REMOVE_HEADS,
    needs="model",
    question="What changes on these lines without some heads?",
)
def remove_heads(translator: Translator) -> None:
    """Draw what changes on the lines without some heads."""
    lines = choose_lines(translator)
    heads = _choose_heads(translator, lines, cached(head_means, lines))
    without: LinesWithout | None = None
    if not heads:
        st.text("Choose one head, or the first few by a measure.")
    else:
        removed = format_removals([Removal(*head) for head in heads])
        choices = {navigation.VIEW: navigation.REMOVE_HEADS, navigation.REMOVED: removed}
        navigation.link("roles", "Remove these heads from your sentence", choices)
        offer = Offer(
            JOB,
            f"Removing {counted(len(heads), 'head')}",
            "Remove on these lines",
            start_now=st.session_state.pop(_PRESSED, False),
        )
        without = compute_on_request("without", offer, lines_without, translator, lines, heads)
    if without is not None:
        summary = compute("summary", summarise_removal, lines, without)
        _draw(lines, without, summary)
        # the sets that this session has tried on these lines
        key = lines.checksum, hash(lines.pairs)
        tried = st.session_state.setdefault("corpus.tried", {}).setdefault(key, {})
        change = float(summary.change.value)
        tried[heads] = TriedSet(heads, change, summary.p, summary.control_p)
        if len(tried) > 1:
            st.subheader("Tried on these lines", anchor=False)
            st.text(f"You tried {len(tried)} sets of heads: p is corrected for that (Holm).")
            table = tried_table(list(tried.values()))
            st.dataframe(table, hide_index=True, height="content", key="removal-tried")
    explanations.explain(
        "Zeros replace the output of a removed head, and the model scores the old translation "
        "again: log p in nats per subword. In brackets: 95 % bootstrap intervals over the lines. "
        "p: from a sign-flip permutation test over the lines. The page shows what changes without "
        "heads, never why the model decided: other heads can take over."
        + explanations.sources("§3.2.2", lines_without, resampling.permutation_p, resampling.holm)
    )


_PRESSED = "corpus.removal_pressed"


def _press(text: str) -> None:
    head_picker.set_removed(text)
    st.session_state[_PRESSED] = True


def open_removal(head: Head) -> None:
    """Open the view in the next run, which removes this head from all lines."""
    head_picker.open_head(head)
    text = format_removals([Removal(*head)])
    _press(text)
    st.session_state[navigation.CORPUS_VIEW] = navigation.REMOVE_HEADS
    # the field that holds it is not on the page yet, so nothing else puts it into the address
    address.choose(navigation.REMOVED, text)


def _choose_heads(
    translator: Translator, lines: MeasuredLines, head_means: HeadMeans
) -> tuple[Head, ...]:
    """Draw the menus and the field; return the heads by kind, layer and number."""
    single, ranked = (controls_row(f"corpus-{name}-controls") for name in ("add", "rank"))
    field = st.container()
    with field:
        removals, problem = parse_removals(head_picker.removed_field(), translator.model)
    if problem:
        st.text(problem)
    if any(removal.how != "zero" for removal in removals):
        st.text("On many lines, zeros replace every removed head's output, whatever you write.")
    heads = [removal.place for removal in removals]
    with single:
        head = head_picker.pick_head(translator, head_picker.link_parameters(*first_head(lines)))
        text = format_removals(toggled([Removal(*place) for place in heads], head, "zero"))
        label = "Keep this head" if head in heads else "Remove this head"
        st.button(label, key="removal-add", on_click=_press, args=(text,))
    with ranked:
        count = whole_number("Number of heads", "remove_count", 1, MAX_HEADS, 3, width=230)
        order = menu("with the", ["largest", "smallest"], "remove_order", width=180)
        measures = sorted(lines.head_values, key=lambda name: name != COST)
        measure = menu("mean", measures, "remove_by", width=220, format_func=measure_name)
        kind = menu("among", [ALL_KINDS, *KINDS_BY_NAME], "remove_kind", width=210)
        means = head_means.values[measure].value
        ranks = np.argsort(-means if order == "largest" else means, kind="stable")
        first = [Removal(*lines.heads[n]) for n in ranks if not np.isnan(means[n])
                 and kind in (ALL_KINDS, SCREEN_NAMES[lines.heads[n].kind])][:count]  # fmt: skip
        text = format_removals(first)
        st.button("Remove these", key="removal-take", on_click=_press, args=(text,))
    return tuple(sorted(heads, key=lines.heads.index))


def _draw(lines: MeasuredLines, without: LinesWithout, summary: RemovalSummary) -> None:
    for sentence in summary_sentences(summary, len(without.heads)):
        st.text(sentence)
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Change line by line", anchor=False)
        charts.altair_chart(
            figure("by_line", changes.lines_chart, summary.changes, float(summary.change.value)),
            key="removal-lines",
            alt="How many lines change by how much in log p per subword.",
        )
    with right:
        st.subheader("Compared with random heads of the same kinds", anchor=False)
        if len(summary.control_changes):
            charts.altair_chart(
                figure("controls", changes.controls_chart, summary.change, summary.control_changes),
                key="removal-controls",
                alt="The mean change without these heads, and without as many random ones.",
            )
        else:
            st.text("There are no other heads of these kinds to compare with.")
        _quality(lines, without)
    words = {"Words dropped": summary.lost, "Words added": summary.won}
    for column, (title, counts) in zip(st.columns(2, gap="medium"), words.items(), strict=True):
        with column:
            total = sum(times for _, times in counts)
            st.subheader(f"{title}: {total:,}", anchor=False)
            frame = pd.DataFrame(counts[:MAX_WORDS], columns=["word", "times"])
            st.table(frame, border="horizontal", hide_index=True)
    st.subheader("Lines that change most", anchor=False)
    table = compute("table", changes_table, lines, without)
    lines_table(
        table.head(MAX_LINES), table, "lines-without-heads", "Lines, the largest change first"
    )


def summary_sentences(summary: RemovalSummary, heads: int) -> list[str]:
    """Say what the removal of a number of heads costs, each p in a separate sentence."""
    change = [format_number(float(part), 3, sign=True) for part in summary.change]
    changed = [per_cent(float(part)) for part in summary.changed]
    controls = summary.control_changes
    costly = int((controls <= summary.change.value).sum())
    sentences = [
        f"Without {'this head' if heads == 1 else f'these {heads} heads'}, log p per subword "
        f"changes by {change[0]} ({change[1]} to {change[2]}; {format_p(summary.p)}).",
        f"{changed[0]} ({changed[1]} to {changed[2]}) of the translations differ.",
        f"Control: {costly} of {len(controls)} random sets of as many heads of the same kinds "
        f"cost as much ({format_p(summary.control_p)}).",
    ]
    return sentences if len(controls) else sentences[:2]


def _quality(lines: MeasuredLines, without: LinesWithout) -> None:
    if not (references := sum(bool(pair.reference) for pair in lines.pairs)):
        st.caption("Add reference translations to see BLEU and chrF2 here.")
        return
    scores = compute("quality", comparison.quality_without, lines, without)
    cell = "{0.value:.1f} ({0.low:.1f} to {0.high:.1f})".format
    texts = {x: (cell(s.before), cell(s.after), format_p(s.p)) for x, s in scores.items()}
    frame = pd.DataFrame.from_dict(texts, orient="index", columns=["before", "after", "test"])
    st.table(frame, border="horizontal")
    st.caption(f"On {counted(references, 'line')} with a reference; paired bootstrap.")


def tried_table(tried: Sequence[TriedSet]) -> pd.DataFrame:
    """Return one row a set: its heads, change, p, p by Holm over all, and p of random heads."""
    return pd.DataFrame(
        {
            "heads": [", ".join(head.title for head in entry.heads) for entry in tried],
            CHANGE: [entry.change for entry in tried],
            "p": [entry.p for entry in tried],
            "p (Holm)": resampling.holm([entry.p for entry in tried]),
            "p against random heads": [entry.control_p for entry in tried],
        }
    )
