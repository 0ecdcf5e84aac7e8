"""Tests of faithfulness on the sentence in the bar, cached for each lens."""

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
from viz.draw.caption import LENS_NAMES

T = TypeVar("T")
Floats = npt.NDArray[np.float64]

MOST_WORDS = 80
"""Words of the longest sentence that is tested: each is erased once by itself."""
MOST_PIECES, MOST_TOKENS = 16, 6_000
"""Largest number of measured written pieces, and of tokens that the model reads for one lens: each
piece takes ten passes."""


@dataclass(frozen=True)
class LensResult:
    """Result of one lens on one sentence, means over the measured pieces.

    Args:
        comprehensiveness: fall of log P in nats with the first words erased, for each fraction.
        sufficiency: fall of log P in nats with all other words erased, for each fraction.
        kendall: agreement with the fall of log P without each word, 0 for a piece with equal falls;
            None where they are equal for every piece.
    """

    comprehensiveness: tuple[float, ...]
    sufficiency: tuple[float, ...]
    kendall: float | None


@dataclass(frozen=True)
class ErasingResult:
    """Result of erasing words from one sentence, for the lenses that were computed.

    Args:
        pieces: numbers of measured pieces and of all pieces.
        random: result of words in random order.
        lenses: result of each computed lens.
    """

    pieces: tuple[int, int]
    random: LensResult
    lenses: dict[LensName, LensResult]

    @property
    def missing(self) -> tuple[LensName, ...]:
        """Lenses that were not computed within the time budget."""
        return tuple(name for name in NAMES if name not in self.lenses)


def measured_pieces(trace: AttentionTrace) -> npt.NDArray[np.int64]:
    """Return the positions of the written pieces on which erasing is measured, evenly spaced.

    Raises:
        InputError: if the sentence has fewer than two words or more than `MOST_WORDS`.
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
    """Erase the words that each lens ranks first, and random ones, within the time budget.

    Raises:
        InputError: if the sentence has fewer than two words, or too many.
    """
    targets, model, budget = measured_pieces(trace), translator.model, SearchBudget()
    steps = len(NAMES) + 2
    progress(0, steps, "each word by itself")
    drops = _memo(trace, "each word", lambda: drops_without_each_word(model, trace))
    progress(1, steps, "random words")
    random = _memo(
        trace, ("random", seed), lambda: _means(random_erasing(model, trace, seed, targets=targets))
    )
    lenses: dict[LensName, LensResult] = {}
    for number, name in enumerate(NAMES, start=2):
        progress(number, steps, screen_name(name))
        if budget():
            break

        def compute(name: LensName = name) -> LensResult:
            result = lens_faithfulness(translator, trace, name, drops, targets)
            return _means(result.erasing, result.kendall)

        lenses[name] = _memo(trace, name, compute)
    return ErasingResult((len(targets), len(trace.target_pieces)), random, lenses)


def screen_name(lens: str) -> str:
    """Return the name of a lens on the screen."""
    return next((text for name, text in LENS_NAMES.items() if name == lens), lens)


def mean(curve: Sequence[float]) -> float:
    """Return the mean of a curve over its fractions."""
    return float(np.mean(curve))


def _memo(trace: AttentionTrace, name: object, compute: Callable[[], T]) -> T:
    end_if_unwanted()
    return memo_per_trace(trace, ("faithful", name), compute)


def _means(erasing: Erasing, kendall: Floats | None = None) -> LensResult:
    agreement = math.nan if kendall is None else mean_agreement(kendall)
    return LensResult(
        tuple(erasing.comprehensiveness.mean(0).tolist()),
        tuple(erasing.sufficiency.mean(0).tolist()),
        None if math.isnan(agreement) else agreement,
    )
