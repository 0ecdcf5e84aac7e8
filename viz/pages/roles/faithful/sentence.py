"""The tests of faithfulness on the sentence in the bar, lens by lens, each remembered."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from transformer import AttentionTrace, InputError, Translator
from transformer.analysis.corpus.faithfulness import (
    Erasing,
    drops_without_each_word,
    lens_faithfulness,
    random_erasing,
    source_words,
)
from transformer.analysis.lenses import NAMES, LensName
from transformer.analysis.rank_correlation import mean_agreement
from viz.app.cache.cached_results import SearchBudget
from viz.app.cache.cancellation import end_if_unwanted
from viz.app.cache.memory import memo_per_trace
from viz.draw.lens_words import LENS_NAMES

T = TypeVar("T")
Floats = npt.NDArray[np.float64]

MOST_WORDS = 80
"""Of a sentence that is tested: each is erased once by itself."""
MOST_PIECES, MOST_TOKENS = 16, 6_000
"""Written pieces on which erasing is measured, and tokens that the model reads for one lens: each
piece has ten passes of its own."""


@dataclass(frozen=True)
class LensOnSentence:
    """One lens on one sentence, means over the written pieces that were measured.

    Args:
        comprehensiveness: fall of log P in nats with the first words erased, for each fraction.
        sufficiency: with all others erased.
        kendall: agreement with what erasing each word by itself says, 0 of a piece for which all
            words are alike; None where they are for every piece.
    """

    comprehensiveness: tuple[float, ...]
    sufficiency: tuple[float, ...]
    kendall: float | None


@dataclass(frozen=True)
class ErasingResult:
    """What was found on one sentence, as far as it was computed.

    Args:
        pieces: how many written pieces erasing was measured on, of how many.
        random: words in random order.
        lenses: those that were computed.
    """

    pieces: tuple[int, int]
    random: LensOnSentence
    lenses: dict[LensName, LensOnSentence]

    @property
    def missing(self) -> tuple[LensName, ...]:
        """The lenses for which there was no time."""
        return tuple(name for name in NAMES if name not in self.lenses)


def measured_pieces(trace: AttentionTrace) -> npt.NDArray[np.int64]:
    """The positions of the written pieces on which erasing is measured, evenly spaced.

    Raises:
        InputError: if the sentence has too many words to be tested while somebody waits, or fewer
            than two.
    """
    words = len(source_words(trace))
    if words > MOST_WORDS:
        raise InputError(
            f"The sentence has {words} words, and the page tests up to {MOST_WORDS}: shorten it."
        )
    written = len(trace.target_pieces)
    passes = 10 * (len(trace.source_pieces) + written)  # two for each of five fractions
    count = min(written, MOST_PIECES, max(1, MOST_TOKENS // passes))
    spaced: npt.NDArray[np.int64] = np.linspace(0, written - 1, count).round().astype(np.int64)
    return spaced


def erase_by_lenses(
    translator: Translator,
    trace: AttentionTrace,
    seed: int,
    progress: Callable[[int, int, str], None],
) -> ErasingResult:
    """Erase the words that each lens ranks first, and random ones; ends with the budget.

    Args:
        seed: of the random orders.
        progress: called before each step with its number, the number of all and what it does.

    Raises:
        InputError: if the sentence has fewer than two words, or too many.
    """
    targets, model, budget = measured_pieces(trace), translator.model, SearchBudget()
    steps = len(NAMES) + 2
    progress(0, steps, "each word by itself")
    each = _remembered(trace, "each word", lambda: drops_without_each_word(model, trace))
    progress(1, steps, "random words")
    random = _remembered(
        trace, ("random", seed), lambda: _means(random_erasing(model, trace, seed, targets=targets))
    )
    lenses: dict[LensName, LensOnSentence] = {}
    for number, name in enumerate(NAMES, start=2):
        progress(number, steps, screen_name(name))
        if budget():
            break

        def compute(name: LensName = name) -> LensOnSentence:
            found = lens_faithfulness(translator, trace, name, each, targets)
            return _means(found.erasing, found.kendall)

        lenses[name] = _remembered(trace, name, compute)
    return ErasingResult((len(targets), len(trace.target_pieces)), random, lenses)


def screen_name(lens: str) -> str:
    """A lens as the screen names it."""
    return next((shown for name, shown in LENS_NAMES.items() if name == lens), lens)


def mean(curve: Sequence[float]) -> float:
    """A curve as one number: the mean over its fractions."""
    return float(np.mean(curve))


def _remembered(trace: AttentionTrace, name: object, compute: Callable[[], T]) -> T:
    end_if_unwanted()
    return memo_per_trace(trace, ("faithful", name), compute)


def _means(erasing: Erasing, kendall: Floats | None = None) -> LensOnSentence:
    agreement = math.nan if kendall is None else mean_agreement(kendall)
    return LensOnSentence(
        tuple(erasing.comprehensiveness.mean(0).tolist()),
        tuple(erasing.sufficiency.mean(0).tolist()),
        None if math.isnan(agreement) else agreement,
    )
