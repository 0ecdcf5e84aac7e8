"""Intervals of figures that were measured on a sample of sentences (Efron 1979)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RESAMPLES, CONFIDENCE = 1_000, 0.95


class Interval(NamedTuple):
    """Figures with the bounds between which 95 % of the resamples lie; all of one shape."""

    value: Floats
    low: Floats
    high: Floats


def resampled_weights(sentences: int, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Count the draws of each sentence in each resample; rows sum to `sentences`.

    The same seed gives the same draw.
    """
    draw = np.random.default_rng(seed)
    share = np.full(sentences, 1 / sentences)
    weights: Floats = draw.multinomial(sentences, share, size=resamples).astype(np.float64)
    return weights


def mean_interval(values: Floats, weights: Floats, counts: Floats) -> Interval:
    """Average over sentences, each counted `counts` times, such as its rows or pieces.

    `values` are `[sentence, ...]`, `counts` `[sentence]` and `weights` `[resample, sentence]`, from
    `resampled_weights`.
    """
    flat = values.reshape(len(values), -1).astype(np.float64) * counts[:, None]
    value = flat.sum(0) / counts.sum()
    means = weights @ flat / (weights @ counts)[:, None]  # [resample, value]
    return interval(value.reshape(values.shape[1:]), means.reshape(-1, *values.shape[1:]))


def interval(value: Floats, resampled: Floats) -> Interval:
    """Compute the interval of a figure from its resamples, `[...]` and `[resample, ...]`."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return Interval(np.asarray(value, dtype=np.float64), low, high)
