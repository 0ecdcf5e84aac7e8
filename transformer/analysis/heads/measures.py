"""Scalar measures of a head's weights: entropy, offset, largest weight; and the distance of two."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from transformer import choices, kinds
from transformer.analysis.axes import LabelledWeights, first_counted_row
from transformer.analysis.sinks import first_row
from transformer.arrays import AnyFloats, Bools, Floats
from transformer.traces import notes

MEASURES: dict[str, str] = {
    "entropy": "how evenly a row is spread, in bits; 0 where each position looks at one token",
    "confidence": "the largest weight in each row (end token excluded), averaged over rows",
    "offset": "how many tokens after itself a position looks, on average; below 0 is back",
    "diagonal": "how many tokens from the diagonal a row lies, on average",
}


def entropy(weights: Floats) -> Floats:
    """Compute -Σ p log2 p of each row, in bits: `[..., key]` to `[...]`."""
    # 0 · log 0 counts as 0: a masked key adds nothing
    log_p = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    return -(weights * log_p).sum(-1)


def in_shares(axes: LabelledWeights, *, fill: bool = True) -> LabelledWeights:
    """Scale the rows to the sum 1; an empty row stays empty.

    Without `fill`, a row that sums to less stays as it is: the rest lies on what is not here, as on
    the source where cross-attention shares the softmax.

    Those of a softmax are left as they are, to the last bit; not those of weights that were given
    from elsewhere, or without special tokens.
    """
    total = axes.weights.sum(-1, keepdims=True, dtype=np.float64)
    total = total if fill else np.maximum(total, 1)
    if (np.abs(total - 1) <= notes.TOLERANCE).all():
        return axes
    shares = np.divide(axes.weights, total, out=np.zeros_like(axes.weights), where=total > 0)
    return axes._replace(weights=shares)


@choices.check_choices
def measure(axes: LabelledWeights, kind: kinds.Kind, name: str) -> Floats:
    """Compute a number for each head, `[layer, head]`, the mean over the rows that have weight.

    Each row is measured as shares of its sum. Weights below 0, which `attention_notes` names, let
    entropy and confidence (Voita et al. 2019, §4) leave their range. The diagonal of a map that is
    not square runs from corner to corner, its distances are in key tokens.
    """
    choices.require_choice("name", name, MEASURES)
    axes = in_shares(axes)
    first = first_row(axes, kind)
    # layer by layer: one at a time is enough to hold in float64
    layers = (layer[:, first:].astype(np.float64) for layer in axes.weights)
    values = np.stack([_row_mean(_MEASURES[name](layer, axes, first), layer) for layer in layers])
    return np.where(axes.existing_heads, values, np.nan)


def _row_mean(values: Floats, weights: Floats) -> Floats:
    """Average over the rows that have weight: `[..., query]` to `[...]`; 0 where none has any."""
    rows = weights.any(-1)
    return (values * rows).sum(-1) / np.maximum(rows.sum(-1), 1)


@dataclass(frozen=True)
class Summary:
    """One head on one sentence."""

    entropy: float  # in bits, mean over the rows; 0 where each position looks at one token
    max_entropy: float  # that of uniform attention over all keys that are seen
    largest: float  # the largest weight
    query: int  # the row of the largest weight
    key: int  # the column of the largest weight
    offset: float  # from a position to what it looks at, mean over the rows; below 0 is back
    offset_deviation: float  # standard deviation of that distance


def summarise(weights: AnyFloats, *, causal: bool = False, sinks: Bools | None = None) -> Summary:
    """Sum up one map, `[query, key]`, over the rows with weight; no query sees the `sinks`."""
    first = first_counted_row(len(weights), causal=causal, sinks=sinks)
    p = weights[first:].astype(np.float64)
    keys = np.ones(p.shape[1], dtype=bool) if sinks is None else ~sinks
    seen = keys.cumsum()[first:] if causal else np.full(len(p), keys.sum())  # keys of each row
    query, key = np.unravel_index(int(p.argmax()), p.shape)
    offset = float(_row_mean(_offset(p, first), p))
    variance = float(_row_mean((p * (_distances(p, first) - offset) ** 2).sum(-1), p))
    return Summary(
        entropy=float(_row_mean(entropy(p), p)),
        max_entropy=float(_row_mean(np.log2(np.maximum(seen, 1)), p)),
        largest=float(p[query, key]),
        query=int(query) + first,
        key=int(key),
        offset=offset,
        offset_deviation=variance**0.5,
    )


def _distances(weights: Floats, first: int) -> Floats:
    """Compute key minus query, `[query, key]`, where the first row is that of query `first`."""
    queries, keys = weights.shape[-2:]
    return np.arange(float(keys)) - np.arange(first, first + queries)[:, None]


def _offset(weights: Floats, first: int) -> Floats:
    """Average the distance of what each row looks at: `[..., query, key]` to `[..., query]`."""
    return (weights * _distances(weights, first)).sum(-1)


def _confidence(weights: Floats, axes: LabelledWeights) -> Floats:
    end = np.array([key in axes.special.ends for key in axes.labels.keys])
    return np.where(end, 0, weights).max(-1)


def _diagonal(weights: Floats, axes: LabelledWeights, first: int) -> Floats:
    queries, keys = axes.weights.shape[2:]
    # the middle of a row's square, measured along the keys
    middle = (np.arange(first, queries) + 0.5) * keys / queries - 0.5
    distance = np.abs(np.arange(keys) - middle[:, None])  # [query, key]
    return (weights * distance).sum(-1)


# each takes [head, query, key], the labels and the first row, and gives [head, query]
_MEASURES: dict[str, Callable[[Floats, LabelledWeights, int], Floats]] = {
    "entropy": lambda weights, _axes, _first: entropy(weights),
    "confidence": lambda weights, axes, _first: _confidence(weights, axes),
    "offset": lambda weights, _axes, first: _offset(weights, first),
    "diagonal": _diagonal,
}


def total_variation(first: AnyFloats, second: AnyFloats, *, causal: bool = False) -> Floats:
    """Average ½ Σ_j |a_ij - b_ij| of two rows over the rows: `[..., query, key]` to `[...]`.

    0 where both heads look at the same, 1 where they share no key. Rows sum to 1. Where a query
    sees no later key (`causal`), the first row does not count: it is the same in every head.
    """
    counted = first_counted_row(first.shape[-2], causal=causal)
    distances = np.abs(first.astype(np.float64) - second).sum(-1) / 2
    return np.asarray(distances[..., counted:].mean(-1))
