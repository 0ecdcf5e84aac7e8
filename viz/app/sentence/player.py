"""The player: a translation as it is written, what heads look at and what was probable."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import streamlit as st

from transformer import AttentionTrace
from transformer.analysis.alignment import WordPair
from transformer.analysis.alignment_settings import AlignmentSettings
from transformer.analysis.heads.head import Head
from transformer.translation.score import Scored
from viz.app.cache import cached_results, memory
from viz.app.chrome.mounts import mount
from viz.app.links import address
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw.head_grid import head_of
from viz.draw.player import Linked, encode_player
from viz.draw.trace_message import SearchStep, about, encode_for_players, word_links
from viz.draw.watched import search_steps, watched_heads


class Drawn(NamedTuple):
    """Name of the trace that a player draws, and the head that it watches."""

    trace: str  # its name
    watched: Head | None


def score_translation(bar: BarTranslation) -> Scored:
    """Score the translation in the bar piece by piece, with the best alternatives of each step."""
    return cached_results.score(bar.translator, *scored_pair(bar), bar.used.alpha)


def scored_pair(bar: BarTranslation) -> tuple[str, str | tuple[str, ...]]:
    """Return the sentence and its translation as they are scored."""
    pieces = tuple(piece.text for piece in bar.translation.best.pieces)
    return bar.used.text, bar.used.edited or pieces


def carry_trace(trace: AttentionTrace, steps: Sequence[SearchStep]) -> str:
    """Put a trace on the page, and return the name by which its pictures ask for it."""
    key, data = memory.memo_per_trace(trace, "message", lambda: encode_for_players(trace, steps))
    mount("trace", data)
    return key


def show_player(
    bar: BarTranslation,
    trace: AttentionTrace,
    *,
    settings: AlignmentSettings | None = None,
    mutual: Sequence[WordPair] = (),
    every: Sequence[WordPair] = (),
    linked: Linked | None = None,
    opened: Head | None = None,
    on_pick: Callable[[object], None] | None = None,
) -> Drawn:
    """Draw the player of the translation in the bar.

    The links are those of the settings, unless they are `linked` otherwise. `on_pick` receives what
    a click sends, unchecked; heads can be removed where it is given.
    """
    steps = search_steps(score_translation(bar))
    if len(steps) != len(trace.target_pieces):
        return Drawn(carry_trace(trace, ()), None)  # of other pieces: nothing beats something else
    heads = memory.memo_per_trace(trace, ("watched", mutual), lambda: watched_heads(trace, mutual))
    key = carry_trace(trace, steps)
    data = encode_player(
        key,
        about(trace.languages, bar.origin.made_by, settings),
        kind=opened.kind if opened else "cross",
        selected=heads if opened is None else {**heads, opened.kind: opened},
        links=word_links(every, mutual),
        linked=linked,
        breaks=on_pick is not None and not bar.used.steers,
        arrival=address.arrivals(),
    )
    mount("player", data, on_pick)
    watched = watched_head(st.query_params.get(address.WATCHED), trace)
    return Drawn(key, watched or opened or heads["cross"])


def watched_head(name: object, trace: AttentionTrace) -> Head | None:
    """Read a head, as `cross-6-4`, that the browser names; None if the trace does not have it."""
    kind, *numbers = (name if isinstance(name, str) else "").split("-")
    place = [int(n) - 1 if n.isascii() and n.isdecimal() and len(n) < 4 else n for n in numbers]
    shapes = {kind: trace.weights(kind).shape for kind in trace.kinds}
    return head_of([kind, *place], shapes)
