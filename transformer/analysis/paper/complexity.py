"""Cost of one layer as the sequence grows: Table 1 of the paper as numbers, and the memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SELF_ATTENTION = "self-attention"
RECURRENT = "recurrent"
CONVOLUTIONAL = "convolutional"
RESTRICTED = "restricted self-attention"
LAYERS = (SELF_ATTENTION, RECURRENT, CONVOLUTIONAL, RESTRICTED)
"""The rows of Table 1."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes that a layer's cost depends on, except the length n.

    Args:
        d: width of the representation.
        k: width of the convolution's kernel.
        r: neighbourhood of restricted self-attention.
        h: heads; they change the memory, not the work.
    """

    d: int
    k: int
    r: int
    h: int


def work(layer: str, n: npt.ArrayLike, sizes: Sizes) -> Floats:
    """Count the operations of one layer, up to a constant factor: the first column of Table 1.

    `layer` is of `LAYERS`, and `n`, `[length]`, has the tokens of the sequence.
    """
    n = np.asarray(n, dtype=np.float64)
    d, k, r = float(sizes.d), float(sizes.k), float(sizes.r)
    formulas: dict[str, Callable[[], Floats]] = {
        SELF_ATTENTION: lambda: n**2 * d,
        RECURRENT: lambda: n * d**2,
        CONVOLUTIONAL: lambda: k * n * d**2,
        # a neighbourhood cannot be larger than the sentence
        RESTRICTED: lambda: np.minimum(r, n) * n * d,
    }
    return formulas[layer]()


def memory(layer: str, n: npt.ArrayLike, sizes: Sizes) -> Floats:
    """Count the values that one layer stores for the backward pass: its input, and the weights.

    Table 1 does not list it; it follows from §3.2: a weight for each head, query and key. Up
    to a constant factor, as the work: queries, keys and values are as large as the input.
    """
    n = np.asarray(n, dtype=np.float64)
    seen: dict[str, Floats] = {SELF_ATTENTION: n, RESTRICTED: np.minimum(float(sizes.r), n)}
    held: Floats = n * sizes.d + sizes.h * n * seen.get(layer, np.zeros_like(n))
    return held


def crossings(sizes: Sizes) -> dict[str, float]:
    """Compute the length at which self-attention does as much work as another layer.

    Above it, the other one does less (§4). At r, restricted self-attention begins to
    leave tokens out.
    """
    return {
        RECURRENT: float(sizes.d),
        CONVOLUTIONAL: float(sizes.k * sizes.d),
        RESTRICTED: float(sizes.r),
    }
