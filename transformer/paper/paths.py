"""Paths of a signal between two positions, over the connections of layers (§4, Table 1)."""

import numpy as np
import numpy.typing as npt

from transformer.analysis.sinks import are_sinks
from transformer.arrays import Floats
from transformer.paper.costs import CONVOLUTIONAL, RECURRENT, RESTRICTED, SELF_ATTENTION, Sizes
from transformer.trace import AttentionTrace

CONTIGUOUS = "convolutional, contiguous kernels"
"""A stack of convolutions without dilation; `CONVOLUTIONAL` is dilated, as in Table 1."""


def connections(layer: str, step: int, position: int, n: int, sizes: Sizes) -> range:
    """Return which of n positions read a position in a step: a layer, or one of a recurrence.

    A kernel covers a position and those before it, k^step apart in a dilated stack. A neighbourhood
    has its position in the middle, and at the ends of the sentence is moved inwards.
    """
    k, r = sizes.k, min(sizes.r, n)
    if layer == SELF_ATTENTION:
        return range(n)
    if layer == RECURRENT:  # an input first enters the state of its own position
        return range(position + (step > 0), min(position + (step > 0) + 1, n))
    if layer == RESTRICTED:
        first = 0 if position < r else position - r + 1 + r // 2
        return range(first, n if position >= n - r else position + r // 2 + 1)
    dilation = 1 if layer == CONTIGUOUS else k**step
    return range(position, min(position + (k - 1) * dilation + 1, n), dilation)


def shortest_path(layer: str, n: int, start: int, end: int, sizes: Sizes) -> tuple[int, ...] | None:
    """Search breadth-first; return the position after each step, `start` first, or None."""
    came_from: list[dict[int, int]] = [{start: start}]
    while end not in came_from[-1] or len(came_from) == 1:
        if len(came_from) > n:  # no further step reaches anything new
            return None
        reached: dict[int, int] = {}
        for position in came_from[-1]:
            for following in connections(layer, len(came_from) - 1, position, n, sizes):
                reached.setdefault(following, position)
        came_from.append(reached)
    path = [end]
    for reached in reversed(came_from[1:]):
        path.append(reached[path[-1]])
    return tuple(reversed(path))


def longest_path(layer: str, n: npt.ArrayLike, sizes: Sizes) -> Floats:
    """Count the steps of `shortest_path` from the first of n positions to the last; ∞ if none."""
    n, k, half = np.asarray(n, dtype=np.float64), sizes.k, sizes.r // 2
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = {
            SELF_ATTENTION: np.ones_like(n),
            RECURRENT: n,
            RESTRICTED: 1 + np.ceil(np.maximum(n - sizes.r, 0) / half),
            CONTIGUOUS: np.ceil((n - 1) / (k - 1)),
            CONVOLUTIONAL: np.ceil(np.log(n) / np.log(k) - 1e-9),  # less what a logarithm rounds up
        }[layer]
    return np.fmax(steps, 1)  # where n is 1, too, which is 0 / 0 for a kernel of 1


def farthest_look(trace: AttentionTrace) -> tuple[int, int, int, int] | None:
    """Find where a head of the encoder gives half of a row or more to the farthest word.

    Returns layer, head, query and key; sinks count neither as query nor as key.
    """
    counted, weights = ~are_sinks(trace.source_tokens, trace.special), trace.encoder_self
    strong = np.argwhere((weights >= 0.5) & counted[:, None] & counted)
    distances = np.abs(strong[:, 2] - strong[:, 3])
    if not distances.any():
        return None
    layer, head, query, key = map(int, strong[np.lexsort((weights[*strong.T], distances))[-1]])
    return layer, head, query, key
