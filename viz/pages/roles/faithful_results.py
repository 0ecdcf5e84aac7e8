"""Tests of faithfulness on the sentence in the bar, and what they and a corpus's say in words."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from transformer import AttentionTrace, InputError, Kind, Translator, kinds
from transformer.analysis.lenses import NAMES, LensName
from transformer.analysis.stored import Figure
from transformer.corpus import faithfulness
from transformer.corpus.faithfulness_report import Curves, FaithfulnessReport
from viz.app import streamlit_internals
from viz.app.cache import memory
from viz.draw import caption
from viz.draw.formatting import format_number, listing, per_cent

T = TypeVar("T")

MAX_WORDS = 80  # words of the longest sentence that is tested: each is erased once by itself
MAX_PIECES, MAX_TOKENS = 16, 6_000
"""Largest number of measured written pieces, and of tokens that the model reads for one lens: each
piece takes ten passes."""


class LensResult(NamedTuple):
    """Result of one lens on one sentence, means over the measured pieces."""

    curves: Curves  # fall of log P at each fraction, of which one sentence has no interval
    # agreement with the fall of log P without each word, 0 for a piece with equal falls; None where
    # they are equal for every piece
    kendall: float | None


class ErasingResult(NamedTuple):
    """Result of erasing words from one sentence, for the lenses that were computed."""

    pieces: tuple[int, int]  # numbers of measured pieces and of all pieces
    random: Curves  # of words in random order
    lenses: dict[LensName, LensResult]  # those for which there was time


def measured_pieces(trace: AttentionTrace) -> npt.NDArray[np.int64]:
    """Return the positions of the written pieces on which erasing is measured, evenly spaced."""
    words = len(faithfulness.source_words(trace))
    if words > MAX_WORDS:
        raise InputError(
            f"Your sentence has {words} words, and this test takes up to {MAX_WORDS}: shorten it."
        )
    written = len(trace.target_pieces)
    passes = 10 * (len(trace.source_pieces) + written)  # two for each of five fractions
    count = min(written, MAX_PIECES, max(1, MAX_TOKENS // passes))
    spaced: npt.NDArray[np.int64] = np.linspace(0, written - 1, count).round().astype(np.int64)
    return spaced


def erase_by_lenses(
    trace: AttentionTrace,
    seed: int,
    translator: Translator,
    progress: Callable[[int, int, str], None],
) -> ErasingResult:
    """Erase the words that each lens ranks first, and random ones."""
    targets, model = measured_pieces(trace), translator.model
    steps = len(NAMES) + 2
    progress(0, steps, "each word by itself")
    drops = _memo(trace, "each word", lambda: faithfulness.drops_without_each_word(model, trace))
    progress(1, steps, "random words")
    random = _memo(
        trace,
        ("random", seed),
        lambda: _means(faithfulness.random_erasing(model, trace, seed, targets=targets)),
    )
    lenses: dict[LensName, LensResult] = {}
    for number, name in enumerate(NAMES, start=2):
        progress(number, steps, screen_name(name))

        def compute(name: LensName = name) -> LensResult:
            result = faithfulness.lens_faithfulness(translator, trace, name, drops, targets)
            agreement = faithfulness.mean_agreement(result.kendall)
            return LensResult(_means(result.erasing), None if math.isnan(agreement) else agreement)

        lenses[name] = _memo(trace, name, compute)
    return ErasingResult((len(targets), len(trace.target_pieces)), random, lenses)


def screen_name(lens: str) -> str:
    """Return the name of a lens on the screen."""
    return next((text for name, text in caption.LENS_NAMES.items() if name == lens), lens)


def _memo(trace: AttentionTrace, name: object, compute: Callable[[], T]) -> T:
    streamlit_internals.end_if_unwanted()
    return memory.memo_per_trace(trace, ("faithful", name), compute)


def _means(erasing: faithfulness.Erasing) -> Curves:
    falls = (values.mean(0).tolist() for values in (erasing.comprehensiveness, erasing.sufficiency))
    return Curves(*(tuple(Figure(value, value, value) for value in curve) for curve in falls))


def corpus_sentences(report: FaithfulnessReport) -> list[str]:
    """Name the lenses that find the most important words, and those no better than chance."""
    falls = {name: lens.comprehensiveness for name, lens in report.lenses.items()}
    costs = {name: lens.sufficiency for name, lens in report.lenses.items()}
    best = max(falls, key=lambda name: _mean(falls[name]))
    cheapest = min(costs, key=lambda name: _mean(costs[name]))
    fall, chance, cost, random_cost = (
        format_number(_mean(curve))
        for curve in (
            falls[best], report.random.comprehensiveness, costs[cheapest], report.random.sufficiency
        )
    )  # fmt: skip
    alone = " No other lens overlaps its interval at every share."
    return [
        f"Erasing the top words of {screen_name(best)} changes most: a subword's log probability "
        f"falls by {fall} nats on average, by {chance} with random words."
        f"{_overlapping(best, falls) or alone}",
        _against_random(falls, report.random.comprehensiveness, report.fractions),
        f"With the top words alone, {screen_name(cheapest)} loses least: {cost} nats on average, "
        f"random words {random_cost}.{_overlapping(cheapest, costs)}",
    ]


def sentence_text(erased: ErasingResult) -> str:
    """Compare the computed lenses on one sentence, which has no interval."""
    falls = {name: _mean(result.curves.comprehensiveness) for name, result in erased.lenses.items()}
    best = max(falls, key=falls.__getitem__)
    random = _mean(erased.random.comprehensiveness)
    below = [screen_name(name) for name, fall in falls.items() if fall <= random]
    not_above = f" No more than random words: {listing(below)}." if below else ""
    return (
        f"On this sentence, erasing the top words of {screen_name(best)} changes most: a subword's "
        f"log probability falls by {format_number(falls[best])} nats on average, by "
        f"{format_number(random)} with random words.{not_above} One sentence says little about a "
        f"lens: compare “Over many sentences”."
    )


def attention_text(changes: Mapping[Kind, Figure], weights: str) -> str:
    """Describe the change of log P with uniform or permuted weights on the corpus."""
    parts = []
    for kind, figure in changes.items():
        value, low, high = (format_number(number, sign=True) for number in figure)
        zero = ", includes 0" if figure.low <= 0 <= figure.high else ""
        parts.append(f"{kinds.KIND_TITLES[kind]} by {value} ({low} to {high}{zero})")
    return (
        f"With {weights} weights in all heads of one kind, a subword's log probability changes: "
        f"{'; '.join(parts)}."
    )


def corpus_text(report: FaithfulnessReport) -> str:
    """Describe the corpus and the translations of the report."""
    left_out = f", {report.left_out:,} left out" if report.left_out else ""
    translations = "the reference" if report.forced else "the model's own"
    return (
        f"Measured on {report.sentences:,} sentences{left_out}, on the subwords of {translations} "
        f"translations. In brackets: 95 % bootstrap intervals over the sentences."
    )


def overlap(first: Figure, second: Figure) -> bool:
    """Return whether two intervals overlap."""
    return first.low <= second.high and second.low <= first.high


def _against_random(
    lenses: Mapping[str, Sequence[Figure]], random: Sequence[Figure], fractions: Sequence[float]
) -> str:
    """Name the lenses, and the shares, whose intervals overlap with chance or lie below it."""
    parts = []
    for title, holds in (
        ("Indistinguishable from random words (95 % intervals)", overlap),
        ("Below random words", lambda figure, chance: figure.high < chance.low),
    ):
        names = []
        for name, curve in lenses.items():
            pairs = zip(fractions, curve, random, strict=True)
            shares = [per_cent(at) for at, *figures in pairs if holds(*figures)]
            if shares:
                every = len(shares) == len(fractions)
                names.append(
                    f"{screen_name(name)} at {'every share' if every else listing(shares)}"
                )
        parts += [f"{title}: {listing(names)}."] if names else []
    beats = "Every lens beats random words at every share (95 % intervals do not overlap)."
    return " ".join(parts) or beats


def _overlapping(best: str, lenses: Mapping[str, Sequence[Figure]]) -> str:
    """Name the lenses whose intervals overlap with the best one's at every share.

    All lenses are measured on the same sentences, so a difference may be significant all the same.
    """
    names = [
        screen_name(name)
        for name, curve in lenses.items()
        if name != best and all(map(overlap, curve, lenses[best]))
    ]
    text = " Its 95 % interval overlaps {} at every share, so the intervals do not separate them."
    return text.format(listing(names)) if names else ""


def _mean(curve: Sequence[Figure]) -> float:
    return float(np.mean([figure.value for figure in curve]))
