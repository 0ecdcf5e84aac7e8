"""A translation for the player: the steps of its search, its links, and the heads to open first."""

import math
from collections.abc import Sequence

import numpy as np

from transformer import AttentionTrace, kinds
from transformer.analysis.alignment import WordPair
from transformer.analysis.heads.head import Head
from transformer.analysis.sinks import are_sinks
from transformer.text.tokenizer import Piece
from transformer.translation.score import Choice, Scored
from viz.draw.trace_message import WINDOW, SearchStep

OPTIONS = 5  # most probable next subwords that are drawn at each step


def search_steps(score: Scored) -> list[SearchStep]:
    """Return the most probable pieces of each step of a search."""
    parts = zip(score.pieces, score.log_probs, score.alternatives, strict=True)
    return [SearchStep(*options_of(*part)) for part in parts]


def options_of(
    piece: Piece, log_prob: float, others: Sequence[Choice]
) -> tuple[tuple[tuple[str, float], ...], int]:
    """Return the most probable pieces of a step, and the index of the one that was written."""
    written = (piece.text, math.exp(min(0.0, log_prob)))
    options = sorted(
        [written, *((other.piece, other.probability) for other in others)],
        key=lambda option: -option[1],
    )[:OPTIONS]
    if written not in options:  # what was forced or typed may be less probable than all others
        options[-1] = written
    return tuple(options), options.index(written)


def watched_heads(trace: AttentionTrace, links: Sequence[WordPair]) -> dict[kinds.Kind, Head]:
    """Choose the head of each kind that is open first, by what is drawn of a long sentence.

    In cross-attention it gives most weight to the linked source word while its translation is
    written. Elsewhere it gives most to a single token, neither a sink nor the token that looks.
    """
    heads: dict[kinds.Kind, Head] = {}
    for kind in trace.kinds:
        weights = trace.weights(kind)[..., :WINDOW, :WINDOW]  # [layer, head, query, key]
        if kind == "cross" and links:
            mask = np.zeros(weights.shape[2:], dtype=bool)
            source, target = (
                np.unique([piece.word for piece in pieces[:WINDOW]], return_inverse=True)[1]
                for pieces in (trace.source_pieces, trace.target_pieces)
            )
            for link in links:
                mask[np.ix_(target == link.target, source == link.source)] = True
            values = (weights * mask).sum((2, 3))
        else:
            plain = ~are_sinks(trace.labels(kind).keys[:WINDOW], trace.special)
            apart = np.ones(weights.shape[2:], dtype=bool)
            if kind != "cross":
                np.fill_diagonal(apart, False)
            values = (weights * (apart & plain)).max(-1).mean(-1)
        layer, head = np.unravel_index(int(values.argmax()), values.shape)
        heads[kind] = Head(kind, int(layer), int(head))
    return heads
