"""Significance of differences measured sentence by sentence: permutation test and Holm's method.

The intervals beside them are bootstrap intervals over the same sentences
(`corpus.stored.mean_interval`; Efron 1979).
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

PERMUTATIONS = 10_000
_AT_ONCE = 2**22
"""Signs that are drawn at one time."""


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
