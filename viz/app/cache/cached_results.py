"""Results of a model for a sentence, computed once for all users."""

import time
import unicodedata
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal, Protocol

import streamlit as st

from transformer import AttentionTrace, InputError, Translation, Translator, hooks
from transformer.analysis.heads import removal_text
from transformer.analysis.heads.effect import Effect, effect
from transformer.analysis.heads.means import FILE as MEANS_FILE
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_order import RemovalOrder, places, with_next_place
from transformer.decoding.settings import SearchSettings
from transformer.translation.score import Scored
from viz.app import streamlit_internals
from viz.app.cache import memory, search_queue

MAX_PIECES = 512
"""Longest side of a map that is drawn: beyond it the weights of all heads are too much to send."""


class SearchBudget:
    """Budget of processor time of a search, checked after each of its steps."""

    def __init__(self) -> None:
        # of this thread, in which torch computes: who else is served meanwhile does not count
        self._end = time.thread_time() + search_queue.SECONDS

    def __call__(self) -> bool:
        streamlit_internals.end_if_unwanted()
        return time.thread_time() > self._end


def identity(translator: Translator) -> Hashable:
    """Return the key of a model in the cache."""
    # the checksum of a MarianMT folder has neither its name, which says the languages, nor
    # `domain.json`, which gives translations their notices
    return translator.checksum, translator.languages, translator.domain


def trace_identity(trace: AttentionTrace) -> Hashable:
    """Return the key of a trace in the cache, beside that of its model."""
    # the same words can be written in other pieces
    pieces = tuple(piece.id for piece in (*trace.source_pieces, *trace.target_pieces))
    return trace.source, trace.target, pieces


def key_of(translator: Translator, trace: AttentionTrace) -> tuple[Hashable, Hashable]:
    """Return the key of what a model computes from a trace; see `identity`, `trace_identity`."""
    return identity(translator), trace_identity(trace)


def search(
    translator: Translator,
    text: str,
    settings: SearchSettings,
    watcher: search_queue.Watcher | None = None,
) -> Translation:
    """Search for a translation and its tree, cached; stop at its budget, or if nobody waits."""
    settings = replace(settings, tree=True)
    _refuse_what_cannot_be_drawn(translator, text)
    return memory.memo(
        ("translation", identity(translator), text, settings),
        lambda: search_queue.search_queue().search(translator, text, settings, watcher),
    )


ALTERNATIVES = 4  # number of stored alternatives at each place of a translation


def score(translator: Translator, text: str, target: str | tuple[str, ...], alpha: float) -> Scored:
    """Score each piece of a given translation (text or pieces), cached; see `Translator.score`."""
    _refuse_what_cannot_be_drawn(translator, text)
    return memory.memo(
        ("scored", identity(translator), text, target, alpha),
        lambda: translator.score(text, target, alternatives=ALTERNATIVES, alpha=alpha),
    )


def translate_edited(
    translator: Translator,
    text: str,
    settings: SearchSettings,
    edits: Mapping[str, hooks.Hook],
    name: str,
) -> Translation:
    """Translate while hooks change the model, for this call alone; cached by the edits' name."""

    def compute() -> Translation:
        with translator.model.hooks(edits):
            return search_queue.search_queue().search(translator, text, settings)

    _refuse_what_cannot_be_drawn(translator, text)
    return memory.memo(("edited translation", identity(translator), text, settings, name), compute)


def trace(translator: Translator, translation: Translation) -> AttentionTrace:
    """Trace a translation, cached; one forward pass."""
    _refuse_what_cannot_be_drawn(translator, translation.source)
    tokens = translation.best.hypothesis.tokens
    if len(tokens) > MAX_PIECES:
        raise InputError(
            f"The maps are drawn for up to {MAX_PIECES} pieces a side, and this translation has "
            f"{len(tokens):,}: shorten the sentence to see them."
        )
    # two texts can have the same pieces, and the trace has both
    texts = translation.source, translation.text
    return memory.memo(
        ("trace", identity(translator), texts, tuple(tokens)),
        lambda: translator.trace_of(translation),
    )


def trace_of_pair(translator: Translator, text: str, target: str) -> AttentionTrace:
    """Trace a given translation, cached."""
    _refuse_what_cannot_be_drawn(translator, text)
    _refuse_what_cannot_be_drawn(translator, target, "translation")
    return memory.memo(
        ("trace of a pair", identity(translator), text, target),
        lambda: translator.trace(text, target=target),
    )


def _refuse_what_cannot_be_drawn(
    translator: Translator, text: str, name: Literal["text", "translation"] = "text"
) -> None:
    if len(text) > translator.max_characters or translator.model.config.max_length <= MAX_PIECES:
        return  # the translator itself refuses what is longer
    if len(unicodedata.normalize("NFKC", text)) + 2 <= MAX_PIECES:
        return  # a character is one piece at most; with the space before it and `</s>`
    tokenizer = translator.tokenizer if name == "text" else translator.target_tokenizer
    # what else is wrong with it, such as a broken character, the translator says
    readable = text.encode(errors="replace").decode()
    pieces = len(tokenizer.encode(" ".join(readable.split()))) + 1
    if pieces > MAX_PIECES:
        raise InputError(
            f"The {name} has {pieces:,} pieces, and the app draws up to {MAX_PIECES} a side: "
            f"shorten it."
        )


PATIENCE = 0.5  # seconds before the bar is drawn: a flash of it would be of no use


class Report(Protocol):
    """Takes how far the work is, of how much, what it does now, and its result so far, if any."""

    def __call__(self, done: int, total: int, now: str = "", part: object = None, /) -> None: ...


@contextmanager
def progress_bar(text: str) -> Iterator[Report]:
    """Yield a function that reports progress, beside a trusted text, and ends unwanted work."""
    container, began = st.empty(), time.monotonic()

    def report(done: int, total: int, now: str = "", *_: object) -> None:
        streamlit_internals.end_if_unwanted()
        if time.monotonic() - began > PATIENCE:
            container.progress(done / total, f"{text}: {now}" if now else text)

    try:
        yield report
    except Exception:  # not Streamlit's, which is none: a run that it ends draws nothing more
        container.empty()
        raise
    container.empty()


def effect_of(
    translator: Translator,
    translation: Translation,
    trace: AttentionTrace,
    donor: AttentionTrace | None,
    removals: Sequence[Removal],
    settings: SearchSettings,
) -> Effect:
    """Compute the effect on the translation in the bar; the donor is that of a second sentence."""
    if not removals:
        return Effect(trace, trace, translation)
    replacements = {removal.how for removal in removals}
    means = translator.folder / MEANS_FILE  # which a command may write anew
    key = (
        "heads taken away",
        identity(translator),
        memory.state_of_file(means) if "mean" in replacements else None,
        trace_identity(trace),
        trace_identity(donor) if donor and replacements & {"z", "weights"} else None,
        settings,
        removal_text.format_removals(removals),
    )

    def search() -> tuple[AttentionTrace, Translation]:
        computed = effect(
            translator, trace, removals, donor, should_stop=SearchBudget(), **settings.arguments
        )
        return computed.after, computed.translation

    return Effect(trace, *memory.memo(key, search))


def needed_heads(
    trace: AttentionTrace, count: int, translator: Translator, report: Report
) -> RemovalOrder:
    """Find the `count` heads that the sentence needs most, in order; each is cached."""
    order, count = RemovalOrder(), min(count, places(translator.model))
    for place in range(count):

        def find(order: RemovalOrder = order, place: int = place) -> RemovalOrder:
            def progress(done: int, total: int, _now: str = "", /) -> None:
                report(place * total + done, count * total)

            return with_next_place(translator.model, trace, order, progress)

        order = memory.memo(("removal order", *key_of(translator, trace), place), find)
    return order
