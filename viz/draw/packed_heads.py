"""The weights of many heads as texts, each packed by itself, so that a page unpacks one at a time.

A text is base64 of gzip of planes: the first byte of every number, then the second, and so on, as
`js/explorer/data.js` reads it. The numbers are the float32 weights; from `EXACT_BYTES` on they
are steps in 16 bits, and `Packing.unit` says how large a step is.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from transformer.errors import InputError

EXACT_BYTES = 2**26
"""Of float32 weights, up to which a page holds all of them exactly."""

MOST_BYTES = 2**30
"""Of weights in 16 bits, up to which a page is written at all."""

_FAST = 1  # of gzip; weights hardly become smaller at any other level, and it takes longer


@dataclass(frozen=True)
class Packing:
    """Number format of packed weights.

    Args:
        dtype: of the numbers, one of `wire.DTYPES`.
        unit: what a number counts; 1 where they are the weights themselves.
    """

    dtype: str = "float32"
    unit: float = 1.0

    @property
    def exact(self) -> bool:
        """True if nothing is rounded."""
        return self.dtype == "float32"

    def numbers(self, weights: npt.NDArray[np.float32]) -> npt.NDArray:
        """Quantise weights; only 0 becomes 0, so that no small weight is lost."""
        if self.exact:
            return weights.astype(np.float32, copy=False)
        steps = np.rint(weights / np.float32(self.unit))
        return np.where(steps == 0, np.sign(weights), steps).astype(self.dtype)

    def text(self, weights: npt.NDArray[np.float32]) -> str:
        """Pack the weights of one head, `[query, key]`, as text without any `<`."""
        numbers = self.numbers(weights)
        little = np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("<"))
        planes = little.reshape(-1).view(np.uint8).reshape(-1, little.itemsize).T
        return base64.b64encode(gzip.compress(planes.tobytes(), _FAST, mtime=0)).decode()

    def texts(self, weights: Iterable[npt.NDArray[np.float32]]) -> list[str]:
        """Pack the weights of many heads, on all cores."""
        with ThreadPoolExecutor() as threads:
            return list(threads.map(self.text, weights))


def packing_of(weights: Iterable[npt.NDArray[np.float32]]) -> Packing:
    """Choose how a page writes all of these: exactly, if they are not too many.

    Raises:
        InputError: if they are too many for a page.
    """
    every = list(weights)
    count = sum(array.size for array in every)
    if 4 * count <= EXACT_BYTES:
        return Packing()
    if 2 * count > MOST_BYTES:
        raise InputError(
            f"The page would hold {count:,} weights, and the most is {MOST_BYTES // 2:,}: name "
            f"fewer layers or kinds, or shorten the text."
        )
    least = min(float(array.min()) for array in every)
    most = max(max(float(array.max()) for array in every), 1.0)
    if least < 0:
        return Packing("int16", max(most, -least) / 32767)
    return Packing("uint16", most / 65535)
