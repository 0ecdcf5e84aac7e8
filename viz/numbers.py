"""What one head's weights amount to, in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Summary:
    """One head on one sentence.

    Args:
        entropy: in bits, mean over the rows; 0 where every position looks at one token alone.
        most_entropy: what it would be if every position looked at all that it sees alike.
        largest: the largest weight.
        query: row of the largest weight.
        key: column of the largest weight.
        offset: how far from itself a position looks, mean over rows and weights; below 0 is back.
        spread: standard deviation of that distance.
    """

    entropy: float
    most_entropy: float
    largest: float
    query: int
    key: int
    offset: float
    spread: float


def summarise(weights: Array, *, causal: bool = False) -> Summary:
    """Sum up one map.

    Args:
        weights: `[query, key]`, each row sums to 1.
        causal: whether a query sees no later key. Then the first one can look at itself alone,
            which says nothing about the head, so its row is left out where there are others.
    """
    first = 1 if causal and len(weights) > 1 else 0
    p = weights[first:].astype(np.float64)
    # 0 · log 0 counts as 0: a masked key adds nothing
    log_p = np.log2(p, out=np.zeros_like(p), where=p > 0)
    seen = np.arange(first, len(weights)) + 1 if causal else p.shape[1]  # keys of each row
    query, key = np.unravel_index(int(p.argmax()), p.shape)
    distance = np.arange(p.shape[1])[None] - np.arange(first, len(weights))[:, None]  # [query, key]
    offset = float((p * distance).sum(-1).mean())
    variance = float((p * (distance - offset) ** 2).sum(-1).mean())
    return Summary(
        entropy=float(-(p * log_p).sum(-1).mean()),
        most_entropy=float(np.log2(seen).mean()),
        largest=float(p[query, key]),
        query=int(query) + first,
        key=int(key),
        offset=offset,
        spread=variance**0.5,
    )


def alignedness(cross: Array) -> npt.NDArray[np.float64]:
    """How much the mean over heads of each layer looks like an alignment of words, `[layer]`.

    High where each target token looks at few source tokens and each source token is looked at by
    somebody. The second half matters: a layer that stares at the full stop is sharp, too.

    Args:
        cross: `[layer, head, query, key]`, both ends with `</s>`, which is left out.
    """
    mean = cross.astype(np.float64).mean(1)[:, :-1, :-1]  # [layer, query, key]
    if not mean.size:
        return np.zeros(len(cross))
    score: npt.NDArray[np.float64] = mean.max(-1).mean(-1) + mean.max(-2).mean(-1)
    return score
