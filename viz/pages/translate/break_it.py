"""Break it: the heads that this sentence needs most are removed, beside as many random ones."""

import hashlib

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, HeadlightError
from transformer.analysis.heads import removal, removal_text
from transformer.analysis.heads.removal_order import random_order, removal_order
from viz.app.cache.cached_results import effect_of, needed_heads
from viz.app.chrome import explanations, problems
from viz.app.links import address, navigation
from viz.app.sentence import sentence_bar
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.sentence.translation_line import MARKS, show_candidate
from viz.draw.formatting import counted, format_number, listing

BROKEN = "break"  # name in the URL of the number of heads that are removed


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
    try:
        order = needed_heads(bar.translator, trace)
    except HeadlightError as error:
        problems.say(error)
        return
    with st.container(key="break-controls", horizontal=True, vertical_alignment="bottom"):
        count = st.slider(
            "Heads removed", 0, len(order), key=BROKEN, bind="query-params", width=420
        )
        st.button("Restore", key="break-restore", on_click=_set, args=(None,))
    if not count:
        st.caption("All heads are there. Move the slider to remove the first one.")
        return
    seed = int.from_bytes(hashlib.sha256(trace.source.encode("utf-8", "replace")).digest()[:4])
    control = random_order(bar.translator.model, order, seed)
    named = f"the {count} heads that this sentence needs most"
    if count <= 3:
        named = listing([head.title for head in order[:count]])
    for title, heads in (
        (f"Without {named}", order[:count]),
        (f"Control: without {counted(count, 'random head')} of the same kinds", control[:count]),
    ):
        removals = [removal.Removal(*head) for head in heads]
        try:
            changed = effect_of(
                bar.translator, bar.translation, trace, None, removals, sentence_bar.settings()
            )
        except HeadlightError as error:
            problems.say(error)
            continue
        log_p = (float(pass_.log_probs.sum()) for pass_ in (changed.before, changed.after))
        before, after = map(format_number, log_p)
        show_candidate(
            changed.translation.text,
            trace.target,
            f"log probability of the original translation {after}, {before} with all heads",
            title=title,
        )
    removed = removal_text.format_removals([removal.Removal(*head) for head in order[:count]])
    navigation.plain_link(
        "roles",
        "Open these heads in Remove heads",
        {navigation.VIEW: navigation.REMOVE_HEADS, navigation.REMOVED: removed},
    )
    st.caption(
        f"{MARKS} The first twelve heads are those whose removal, one after another, lowers the "
        f"log probability of the translation most; the others follow by their gradients: "
        f"{explanations.code_line(removal_order)}. Other heads can take over what a head does."
    )


def _set(count: int | None) -> None:
    """Remove so many heads; None brings the button back."""
    if count is None:
        st.session_state.pop(BROKEN, None)
    else:
        st.session_state[BROKEN] = count
    # its slider is not on the page yet, or no more, so nothing else writes to the address
    address.choose(BROKEN, None if count is None else str(count))
