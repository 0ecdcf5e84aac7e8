"""A trace without a model: each head looks at one known cell, under words that are hard to show."""

from typing import Any

import numpy as np

from transformer import KINDS, AttentionTrace, Kind, Piece
from transformer.analysis.axes import LabelledWeights
from transformer.arrays import Singles
from transformer.text.tokenizer import with_end
from transformer.trace import Labels
from viz.draw.open_head import Heads

LAYERS, HEADS = 2, 3
HOT = 0.9125
EVIL = "</script><img src=x onerror=alert(1)>"


def heads_of(kind: Kind, weights: Singles, labels: Labels, **more: Any) -> Heads:
    """Return heads with weights `[layer, head, query, key]`."""
    axes = LabelledWeights(weights, labels)
    return Heads(kind, axes, axes, (weights.shape[1],) * len(weights), **more)


def words(*texts: str) -> tuple[Piece, ...]:
    """One piece for each word, `</s>` last."""
    return tuple(with_end([Piece(9, f"▁{text}", at) for at, text in enumerate(texts)]))


def planted_at(trace: AttentionTrace, kind: Kind, layer: int, head: int) -> tuple[int, int]:
    """Query and key of the one cell that this head looks at."""
    queries, keys = trace.labels(kind)
    number = layer * HEADS + head + KINDS.index(kind)
    query = (2 * number + 1) % len(queries)
    return query, (3 * number) % (query + 1 if kind == "decoder_self" else len(keys))


def planted(*, evil: bool = False) -> AttentionTrace:
    """Six heads of each kind; with `evil`, a word that would close a script if it could."""
    source = words("Two", EVIL if evil else "black", "dogs", "run")
    target = words("Zwei", "schwarze", EVIL if evil else "Hunde", "rennen", "dort")
    trace = AttentionTrace(
        source=" ".join(piece.text.strip("▁") for piece in source[:-1]),
        target=" ".join(piece.text.strip("▁") for piece in target[:-1]),
        source_pieces=source,
        target_pieces=target,
        encoder_self=_even(len(source), len(source)),
        decoder_self=_even(len(target), len(target)),
        cross=_even(len(target), len(source)),
        log_probs=np.zeros(len(target), np.float32),
    )
    for kind in KINDS:
        for layer, head in np.ndindex(LAYERS, HEADS):
            query, key = planted_at(trace, kind, layer, head)
            row = trace.weights(kind)[layer, head, query]
            row *= 1 - HOT
            row[key] += HOT
            if kind == "decoder_self":
                row[query + 1 :] = 0
                row /= row.sum()
    np.copyto(trace.decoder_self, np.tril(trace.decoder_self))
    return trace


def _even(rows: int, keys: int) -> np.ndarray:
    return np.full((LAYERS, HEADS, rows, keys), 1 / keys, np.float32)
