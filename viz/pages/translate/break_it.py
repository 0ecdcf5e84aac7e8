"""Break it: the heads that this sentence needs most are removed, beside as many random ones."""

import hashlib
from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, Translator
from transformer.analysis.heads import removal, removal_order, removal_text
from transformer.analysis.heads.head import Head, all_heads
from transformer.decoding.settings import SearchSettings
from viz.app import jobs
from viz.app.cache.cached_results import Report, SearchBudget, needed_heads
from viz.app.chrome import explanations
from viz.app.links import address, navigation
from viz.app.sentence import sentence_bar
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.sentence.translation_line import MARKS, show_candidate
from viz.draw.formatting import counted, format_number, listing

BROKEN = "break"  # name in the URL of the number of heads that are removed

DRAWS = 5  # draws of random heads, of which the first is translated


class Broken(NamedTuple):
    """The translation without some heads, as far as it is known."""

    order: Sequence[Head]  # first heads of the order; behind those that are removed, as yet
    text: str
    log_p: float  # log P of the original translation
    draws: Sequence[Sequence[Head]] = ()  # as many random heads, several times
    drawn_text: str = ""  # the translation without the first draw
    drawn_log_p: Sequence[float] = ()  # log P without each draw


def show_break(bar: BarTranslation, trace: AttentionTrace, actions: DeltaGenerator) -> None:
    """Draw a button among the actions, then a slider of heads and the translation without them."""
    if BROKEN not in st.query_params and BROKEN not in st.session_state:
        actions.button(
            "Break it: remove the heads this sentence needs most",
            key="break-button",
            icon=":material/heart_broken:",
            on_click=_set,
            args=(1,),
        )
        return
    most = min(removal_order.LENGTH, len(all_heads(bar.translator.model.config)))
    with st.container(key="break-controls", horizontal=True, vertical_alignment="bottom"):
        count = st.slider("Heads removed", 0, most, key=BROKEN, bind="query-params", width=420)
        st.button("Restore", key="break-restore", on_click=_set, args=(None,))
    if not count:
        st.caption("All heads are there. Move the slider to remove the first one.")
        return
    settings, title = sentence_bar.settings(), "Removing one head after another"
    measure, work = ("break", count, settings), partial(_break, trace, count, settings)
    try:
        _show_broken(jobs.computed(bar.translator, trace, measure, title, work), trace, count)
    except jobs.UnfinishedError as unfinished:
        if (broken := unfinished.job.part) is not None:
            _show_broken(broken, trace, count)
        unfinished.show(broken)


def _break(
    trace: AttentionTrace, count: int, settings: SearchSettings, translator: Translator,
    report: Report,
) -> Broken:  # fmt: skip
    """Find and remove the heads, then as many random ones."""

    def text_without(heads: Sequence[Head]) -> str:
        with removal.removed(translator, [removal.Removal(*head) for head in heads]):
            stop = SearchBudget()
            return translator.translate(trace.source, should_stop=stop, **settings.arguments).text

    model = translator.model
    needed = needed_heads(trace, count, translator, report).heads[: removal_order.LENGTH]
    (log_p,) = removal_order.log_p_without(model, trace, [needed[:count]])
    broken = Broken(needed, text_without(needed[:count]), log_p)
    report(1, 1, "random heads", broken)
    seed = int.from_bytes(hashlib.sha256(trace.source.encode("utf-8", "replace")).digest()[:4])
    draws = [removal_order.random_order(model, needed, seed + n)[:count] for n in range(DRAWS)]
    log_ps = removal_order.log_p_without(model, trace, draws)
    return broken._replace(draws=draws, drawn_text=text_without(draws[0]), drawn_log_p=log_ps)


def _show_broken(broken: Broken, trace: AttentionTrace, count: int) -> None:
    removals = [removal.Removal(*head) for head in broken.order[:count]]
    named = f"the {count} heads that this sentence needs most"
    if count <= 3:
        named = listing([removed.place.title for removed in removals])
    original = "log probability of the original translation"
    before = f"{format_number(float(trace.log_probs.sum()))} with all heads"
    figures = f"{original} {format_number(broken.log_p)}, {before}"
    show_candidate(broken.text, trace.target, figures, title=f"Without {named}")
    if draws := broken.draws:
        least, middle, most = (format_number(f(broken.drawn_log_p)) for f in (min, median, max))
        figures = f"{original} {middle} ({least} to {most}), the median and the range of "
        figures += f"{len(draws)} draws, {before}; the translation is that of the first draw"
        if any(head in broken.order for heads in draws for head in heads):
            figures += "; with too few other heads, needed ones are among them"
        title = f"Control: without {counted(count, 'random head')} of the same kinds"
        show_candidate(broken.drawn_text, trace.target, figures, title=title)
    choices = {navigation.REMOVED: removal_text.format_removals(removals)}
    choices[navigation.VIEW] = navigation.REMOVE_HEADS
    navigation.plain_link("roles", "Open these heads in Remove heads", choices)
    rule = removal_order
    st.caption(
        f"{MARKS} Every head was tried for the first place, and again for every {rule.ROUND}th "
        f"one after it: the one whose removal, with those before it removed, lowers the log "
        f"probability of the translation most. For the places between, the {rule.CANDIDATES} that "
        f"lowered it most in the last such round were tried. From the {rule.GREEDY + 1}th on, "
        f"heads follow as in the last round: {explanations.code_line(rule.removal_order)}. The "
        f"control draws from the heads behind the first {rule.LENGTH}, as the last round has "
        f"them. Other heads can take over what a head does."
    )


def _set(count: int | None) -> None:
    """Remove so many heads; None brings the button back."""
    if count is None:
        st.session_state.pop(BROKEN, None)
    else:
        st.session_state[BROKEN] = count
    # its slider is not on the page yet, or no more, so nothing else writes to the address
    address.choose(BROKEN, None if count is None else str(count))
