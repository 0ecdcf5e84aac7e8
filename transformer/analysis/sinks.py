"""Attention sinks: the keys without text to which many heads give much of their weight.

These are special tokens and punctuation (Clark et al. 2019, §3.2; Xiao et al. 2024); symbols, such
as € and an emoji, stand for words and are copied as words are. Here a row is
scaled to what it gives to the other keys, and what is left out is measured.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from transformer.analysis.axes import LabelledWeights, first_counted_row
from transformer.arrays import Bools, Floats, Singles
from transformer.choices import check_choices
from transformer.kinds import Kind
from transformer.text.special_tokens import SpecialTokens
from transformer.text.words import is_punctuation
from transformer.trace import AttentionTrace
from transformer.traces.notes import TOLERANCE


def are_sinks(keys: Iterable[str], special: SpecialTokens) -> Bools:
    """Mark the special tokens, and pieces or words that are punctuation alone, `[key]`."""
    return np.array([key in special.tokens or is_punctuation(key) for key in keys], dtype=bool)


def without_sinks(trace: AttentionTrace, kind: Kind | None = None) -> AttentionTrace:
    """Set the weights on sinks to 0, and scale what is left of each row to the sum that it had.

    So what a decoder gives to the source stays, where both kinds share one softmax. A row with
    nothing left stays 0. A note of the new trace says so.
    """
    kinds = trace.kinds if kind is None else (kind,)
    tokens = dict.fromkeys(token for name in kinds for token in sink_tokens(trace, name))
    if not tokens:
        return trace
    note = f"Without sinks: no weight on {' '.join(tokens)}; each row is scaled to the rest."
    weights: dict[Any, Any] = {name: _rescaled(trace, name) for name in kinds}
    return replace(trace, **weights, notes=(*trace.notes, note))


def _rescaled(trace: AttentionTrace, kind: Kind) -> Singles:
    sinks = are_sinks(trace.labels(kind).keys, trace.special)
    if not sinks.any():
        return trace.weights(kind)
    weights = np.where(sinks, np.float32(0), trace.weights(kind))
    for layer, given in zip(weights, trace.weights(kind), strict=True):  # in float64 one at a time
        rest, total = (rows.sum(-1, keepdims=True, dtype=np.float64) for rows in (layer, given))
        rest = rest / np.where(np.abs(total - 1) <= TOLERANCE, 1, np.where(total == 0, 1, total))
        np.divide(layer, rest, out=layer, where=rest > 0, casting="same_kind")
    return weights


def sink_tokens(trace: AttentionTrace, kind: Kind) -> tuple[str, ...]:
    """Return the sinks among the keys of one kind, each once, in their order."""
    keys = trace.labels(kind).keys
    sinks = are_sinks(keys, trace.special)
    return tuple(dict.fromkeys(key for key, sink in zip(keys, sinks, strict=True) if sink))


def share_on_sinks(trace: AttentionTrace, kind: Kind) -> Floats:
    """Compute each head's share of weight on sinks, `[layer, head]`; NaN where there is no head."""
    queries, keys = trace.labels(kind)
    causal = kind == "decoder_self" and trace.causal
    first = first_counted_row(len(queries), causal=causal)
    sinks = are_sinks(keys, trace.special)
    shares = np.full(trace.weights(kind).shape[:2], np.nan)
    for number, layer in enumerate(trace.weights(kind)):
        weights = layer[:, first:].astype(np.float64)  # [head, query, key]
        total = weights.sum(-1)
        on_sinks = weights[..., sinks].sum(-1)
        shares[number] = np.divide(
            on_sinks, total, out=np.zeros_like(total), where=total != 0
        ).mean(-1)
    return np.where(trace.existing_heads(kind), shares, np.nan)


def left_out_keys(axes: LabelledWeights) -> Bools | None:
    """Mark the keys whose weight is left out, `[key]`; None if no key is left out."""
    return None if axes.sinks else are_sinks(axes.labels.keys, axes.special)


@check_choices
def first_row(axes: LabelledWeights, kind: Kind) -> int:
    """Return the number of the first row that measures count; see `first_counted_row`."""
    rows, causal = len(axes.labels.queries), axes.is_causal(kind)
    return first_counted_row(rows, causal=causal, sinks=left_out_keys(axes))


@check_choices
def seen_cells(axes: LabelledWeights, kind: Kind) -> Bools:
    """Mark the cells that may have weight, `[query, key]`: no later key, and no sink left out."""
    seen = np.ones(axes.weights.shape[2:], dtype=bool)
    if axes.is_causal(kind):
        seen = np.tril(seen)
    sinks = left_out_keys(axes)
    return seen if sinks is None else seen & ~sinks
