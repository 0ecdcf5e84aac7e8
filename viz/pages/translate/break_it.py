"""Break it: the heads that this sentence needs most leave the player one after another."""

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial

import streamlit as st

from transformer import AttentionTrace, Translation, Translator
from transformer.analysis.heads import removal, removal_order, removal_text
from transformer.analysis.heads.head import Head, all_heads
from transformer.decoding.settings import SearchSettings
from transformer.model import Transformer
from viz.app import jobs
from viz.app.cache import memory
from viz.app.cache.cached_results import Report, SearchBudget, key_of, needed_heads
from viz.app.chrome import mounts
from viz.app.links import address, navigation
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw import player
from viz.draw.formatting import counted

REMOVED = "break"  # name in the URL: how many heads are removed; 0 until the text plainly changes
DRAWS = 5  # controls, of which the first is translated
POLL = 0.4  # seconds between two looks at what has come

ABOUT = (
    f"The first {removal_order.GREEDY} heads are those whose removal, one after another, lowers "
    f"the log probability of the translation most. Every head was tried for the first place and "
    f"for every {removal_order.ROUND}th one after it; for the others, the "
    f"{removal_order.CANDIDATES} that lowered it most in the last such round. The heads behind "
    f"them follow as in the last round. The control draws heads of the same kinds from the others, "
    f"as long as there are enough. Other heads can take over what a head does."
)


def take_count(sent: object) -> None:
    """Put the number of heads that the player asks for into the address; None ends it."""
    if isinstance(sent, dict) and sent.keys() == {"broken"}:
        count = sent["broken"]
        if count is None or (type(count) is int and 0 <= count <= removal_order.LENGTH):
            address.choose(REMOVED, None if count is None else str(count))


def show_break(bar: BarTranslation, trace: AttentionTrace) -> None:
    """Send the player what the model writes without heads, where the address asks for it."""
    asked = st.query_params.get(REMOVED, "")
    if not (asked.isascii() and asked.isdecimal() and len(asked) < 4) or bar.used.steers:
        return
    most = _most(bar.translator.model)
    wanted, settings = min(int(asked), most), bar.used.settings
    measure = "break", wanted, settings
    work = partial(_break, bar.translation, trace, wanted, settings)

    def removed_so_far() -> tuple[Sequence[player.RemovedHead], str, bool]:
        """Return the heads that are removed so far, a note, and whether these are all."""
        try:
            return (
                jobs.compute_measure(bar.translator, trace, measure, "Removing heads", work),
                "",
                True,
            )
        except jobs.UnfinishedError as unfinished:
            job = unfinished.job
            ahead = job.ahead
            note = job.error or (f"Waits for {counted(ahead, 'other job')} …" if ahead else "")
            return job.part or (), note, not job.is_active

    def send(places: Sequence[player.RemovedHead], note: str, sent: int) -> None:
        # of a given number, only that one is drawn; else each one plays
        drawn = max(sent, wanted - 1)
        data = player.encode_broken(trace, places, total=most, drawn=drawn, note=note)
        mounts.mount(player.BROKEN, data)

    sent = 0

    def follow() -> None:
        nonlocal sent
        places, note, ends = removed_so_far()
        if not wanted:
            places = places[: sent + 1]  # the maps of one head less are up to 0.7 MB
        send(places, note, sent)
        sent = len(places)
        if ends and (wanted or note or not sent):
            st.rerun()  # only a run of the whole page ends the fragment's repetition

    places, note, ends = removed_so_far()
    if ends and (wanted or note or not places):
        send(places, note, len(places) - 1)
        if places:
            removals = [removal.Removal(*place.head) for place in places[:wanted]]
            removed = {navigation.REMOVED: removal_text.format_removals(removals)}
            choices = {navigation.VIEW: navigation.REMOVE_HEADS, **removed}
            navigation.plain_link("roles", "Open these heads in Remove heads", choices)
    else:  # while they play, until the player names a number
        st.fragment(follow, run_every=POLL)()
    st.caption(ABOUT)


def _most(model: Transformer) -> int:
    return min(removal_order.LENGTH, len(all_heads(model.config)))


def _break(
    translation: Translation,
    trace: AttentionTrace,
    wanted: int,
    settings: SearchSettings,
    translator: Translator,
    report: Report,
) -> list[player.RemovedHead]:
    """Remove heads one after another: as many as are wanted, or until the text plainly changes."""
    most, places = _most(translator.model), list[player.RemovedHead]()
    seed = int.from_bytes(hashlib.sha256(trace.source.encode("utf-8", "replace")).digest()[:4])

    def without(heads: Sequence[Head]) -> AbstractContextManager[None]:
        return removal.removed(translator, [removal.Removal(*head) for head in heads])

    def translated() -> Translation:
        stop = SearchBudget()
        return translator.translate(trace.source, should_stop=stop, **settings.arguments)

    def remove(count: int, needed: Sequence[Head]) -> player.RemovedHead:
        controls = [
            removal_order.random_order(translator.model, needed, seed + draw)[:count]
            for draw in range(DRAWS)
        ]
        with without(needed[:count]):
            after = translated()
            maps = player.maps_of(translator.trace_of(after))
        log_p, *others = removal_order.log_p_without(
            translator.model, trace, [needed[:count], *controls]
        )
        with without(controls[0]):
            control = player.ControlDraws(others, translated().text == translation.text)
        head = needed[count - 1]
        return player.RemovedHead(head, log_p, after.best.pieces, after.text, maps, control)

    for count in range(1, (wanted or most) + 1):
        needed = needed_heads(trace, count, translator, report).heads[:most]
        # of another number of heads, the first ones are known
        key = "removed", count, settings, *key_of(translator, trace)
        places = [*places, memory.memo(key, partial(remove, count, needed))]
        report(count, wanted or most, "", places)
        if not wanted and player.changes_plainly(trace.target_pieces, places[-1].pieces):
            break
    return places
