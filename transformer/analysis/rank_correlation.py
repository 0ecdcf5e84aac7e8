"""Correlation of two rankings."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]


def kendall(a: Floats, b: Floats) -> Floats:
    """Compute Kendall's τ-b of each pair of rows, `[row]`; NaN where all are tied."""
    first, second = (np.sign(x[:, :, None] - x[:, None]) for x in (a, b))
    agreed = (first * second).sum((1, 2))
    norm = np.sqrt((first**2).sum((1, 2)) * (second**2).sum((1, 2)))
    return _ratio(agreed, norm)


def spearman(a: Floats, b: Floats) -> Floats:
    """Compute Spearman's ρ of each pair of rows, ties at mean rank; NaN where all are tied."""
    first, second = (_centred_ranks(x) for x in (a, b))
    norm = np.sqrt((first**2).sum(-1) * (second**2).sum(-1))
    return _ratio((first * second).sum(-1), norm)


def mean_agreement(rows: Floats) -> float:
    """Average the agreements of `kendall` or `spearman` over many rows; NaN where all rows are NaN.

    A row in which all are tied agrees with nothing and counts as 0.
    """
    return float("nan") if np.isnan(rows).all() else float(np.nan_to_num(rows).mean())


def _centred_ranks(x: Floats) -> Floats:
    ranks: Floats = np.sign(x[:, :, None] - x[:, None]).sum(-1) / 2
    return ranks


def _ratio(value: Floats, norm: Floats) -> Floats:
    ratio: Floats = np.divide(value, norm, out=np.full_like(value, np.nan), where=norm > 0)
    return ratio
