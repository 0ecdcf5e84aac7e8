"""The view “Remove heads”: what the removal of any heads costs over all lines, never why."""

import pandas as pd
import streamlit as st

from transformer import Translator
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_text import format_removals, parse_removals, toggled
from transformer.corpus import comparison, resampling
from transformer.corpus.measured import MeasuredLines
from transformer.corpus.removal import (
    LinesWithout,
    RemovalSummary,
    changes_table,
    lines_without,
    summarise_removal,
)
from viz.app.chrome import charts, explanations, head_picker
from viz.app.chrome.fields import controls_row
from viz.app.links import address, navigation
from viz.app.view import Offer, compute, compute_on_request, figure, view
from viz.draw.formatting import counted, format_number, format_p, per_cent
from viz.figures import changes
from viz.pages.corpus.lines import choose_lines
from viz.pages.corpus.measurements import first_head
from viz.pages.corpus.search import lines_table

JOB = "corpus-removal"
MAX_WORDS, MAX_LINES = 6, 20  # rows of the tables of words and of lines


@view(
    navigation.REMOVE_HEADS,
    needs="model",
    question="What changes on these lines without some heads?",
)
def remove_heads(translator: Translator) -> None:
    """Draw what changes on the lines without some heads."""
    lines = choose_lines(translator)
    heads = _choose_heads(translator, lines)
    without: LinesWithout | None = None
    if not heads:
        st.text("Choose one head, or more.")
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
    explanations.explain(
        "Zeros replace the output of a removed head, and the model scores the old translation "
        "again: log p in nats per subword. In brackets: 95 % bootstrap intervals over the lines. "
        "p: from a sign-flip permutation test over the lines. The page shows what changes without "
        "heads, never why the model decided: other heads can take over."
        + explanations.sources("§3.2.2", lines_without, resampling.permutation_p)
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


def _choose_heads(translator: Translator, lines: MeasuredLines) -> tuple[Head, ...]:
    """Draw the menus and the field; return the heads by kind, layer and number."""
    single = controls_row("corpus-add-controls")
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
