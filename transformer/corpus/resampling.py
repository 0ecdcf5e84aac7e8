"""Intervals and tests over sentences: bootstrap, permutation test and Holm's method."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from transformer.arrays import Floats

RESAMPLES, CONFIDENCE = 1_000, 0.95


class Interval(NamedTuple):
    """Figures with the bounds between which 95 % of the resamples lie; all of one shape."""

    value: Floats
    low: Floats
    high: Floats


def resampled_weights(sentences: int, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Draw resamples: how often each has each sentence, `[resample, sentence]`."""
    draw = np.random.default_rng(seed)
    share = np.full(sentences, 1 / sentences)
    return draw.multinomial(sentences, share, size=resamples).astype(np.float64)


def mean_interval(values: Floats, weights: Floats, counts: Floats) -> Interval:
    """Average over sentences, `[sentence, ...]`, each counted as often as it has rows or pieces."""
    flat = values.reshape(len(values), -1).astype(np.float64) * counts[:, None]
    value = flat.sum(0) / counts.sum()
    means = weights @ flat / (weights @ counts)[:, None]  # [resample, value]
    return interval(value.reshape(values.shape[1:]), means.reshape(-1, *values.shape[1:]))


def interval(value: Floats, resampled: Floats) -> Interval:
    """Compute the interval of a figure from its resamples, `[...]` and `[resample, ...]`."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return Interval(np.asarray(value, dtype=np.float64), low, high)


PERMUTATIONS = 10_000
_AT_ONCE = 2**22  # signs that are drawn at one time


def permutation_p(
    differences: npt.ArrayLike, seed: int, permutations: int = PERMUTATIONS
) -> Floats:
    """Compute two-sided p of paired differences whose signs are exchanged at random (Fisher 1935).

    Under the hypothesis that nothing changes, each sentence's difference is as probable with the
    other sign. The observed signs count as one permutation more (Phipson & Smyth 2010).
    `differences` are `[sentence, ...]`; p is `[...]`, at least 1 / (permutations + 1).
    """
    values = np.asarray(differences, dtype=np.float64)
    flat = values.reshape(len(values), -1)
    observed = np.abs(flat.sum(0)) * (1 - 1e-12)  # what rounding alone tells apart is a tie
    draw = np.random.default_rng(seed)
    at_once = max(1, _AT_ONCE // max(len(flat), 1))
    extreme = np.zeros(flat.shape[1], dtype=np.int64)
    for start in range(0, permutations, at_once):
        size = (min(at_once, permutations - start), len(flat))
        signs = draw.integers(2, size=size, dtype=np.int8) * 2.0 - 1
        extreme += (np.abs(signs @ flat) >= observed).sum(0)
    p: Floats = (1 + extreme) / (1 + permutations)
    return p.reshape(values.shape[1:])


def holm(p: npt.ArrayLike) -> Floats:
    """Correct the p of several hypotheses so that any false one is rare, at most 1 (Holm 1979)."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    stepped = values[order] * np.arange(len(values), 0, -1)
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return corrected
