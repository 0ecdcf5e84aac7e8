"""The tokens along the axes of a map: pieces or whole words, with or without `<s>` and `</s>`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from transformer.config import BOS, EOS
from transformer.errors import InputError
from transformer.kinds import Kind
from transformer.tokenizer import SPECIAL, WORD_START, Piece
from transformer.trace import AttentionTrace, Labels, Weights

_ENDS = (SPECIAL[BOS], SPECIAL[EOS])


class LabelledWeights(NamedTuple):
    """The weights of one kind with the tokens along their axes.

    Args:
        weights: `[layer, head, query, key]`, float32.
        labels: the tokens of `query` and of `key`.
        reads: `[query]`, what the decoder has just read where it writes the row's token; only for
            cross-attention, whose rows are named by what is written.
        writes: `[query]`, what the decoder writes where it has read the row's token; only for its
            self-attention, whose rows are named by what is read.
    """

    weights: Weights
    labels: Labels
    reads: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None


class _Word(NamedTuple):
    text: str
    first: int  # position of its first piece
    pieces: int


def by_pieces(trace: AttentionTrace, kind: Kind) -> LabelledWeights:
    """The weights as the model has them, one row and one column for each piece."""
    labels = trace.labels(kind)
    return LabelledWeights(
        trace.weights(kind),
        labels,
        reads=trace.decoder_tokens if kind == "cross" else None,
        writes=trace.target_tokens if kind == "decoder_self" else None,
    )


def by_words(trace: AttentionTrace, kind: Kind) -> LabelledWeights:
    """Whole words: the sum over the pieces of the key word, the mean over those of the query word.

    So a row still sums to 1. Words are as they were typed, without `▁`; `<s>` and `</s>` are words
    of their own. The same step from pieces to words as in Clark et al. 2019, §4.1.
    """
    source, written = _words(trace.source_pieces), _words(trace.target_pieces)
    read = _words((Piece(BOS, SPECIAL[BOS], -1), *trace.target_pieces[:-1]))
    queries, keys = {
        "encoder_self": (source, source),
        "decoder_self": (read, read),
        "cross": (written, source),
    }[kind]
    weights = trace.weights(kind)  # [layer, head, piece, piece]
    summed = np.add.reduceat(weights, [word.first for word in keys], axis=-1)
    summed = np.add.reduceat(summed, [word.first for word in queries], axis=-2)
    count = np.array([word.pieces for word in queries], dtype=np.float32)
    merged = (summed / count[:, None]).astype(np.float32, copy=False)
    labels = Labels(tuple(word.text for word in queries), tuple(word.text for word in keys))
    return LabelledWeights(
        merged,
        labels,
        reads=(SPECIAL[BOS], *labels.queries[:-1]) if kind == "cross" else None,
        # the words are the same, one row later; a translation that was cut may end within one
        writes=(*labels.queries[1:], written[-1].text) if kind == "decoder_self" else None,
    )


def without_special(axes: LabelledWeights) -> tuple[LabelledWeights, npt.NDArray[np.float64]]:
    """Drop `<s>` and `</s>` from rows and columns; no weight that stays is changed.

    Returns:
        What is left, and for each head what the dropped columns absorb: the share of the remaining
        rows' weight that went there, `[layer, head]`, 0 to 1. A row sums to 1 less its own share.

    Raises:
        InputError: if no row or no column is left.
    """
    rows, columns = (
        np.array([token not in _ENDS for token in tokens], dtype=bool) for tokens in axes.labels
    )
    if not rows.any() or not columns.any():
        raise InputError(
            "There is nothing but the start and the end of the sentence: show the special tokens."
        )
    kept = axes.weights[:, :, rows]  # [layer, head, kept query, key]
    absorbed = kept[..., ~columns].sum(-1, dtype=np.float64).mean(-1)
    queries = _select(axes.labels.queries, rows)
    labels = Labels(queries, _select(axes.labels.keys, columns))
    reads, writes = (
        None if tokens is None else _select(tokens, rows) for tokens in (axes.reads, axes.writes)
    )
    return LabelledWeights(kept[..., columns], labels, reads, writes), absorbed


def _words(pieces: Sequence[Piece]) -> list[_Word]:
    """The words that pieces in a row make up."""
    words: list[_Word] = []
    first = 0
    for _, group in groupby(pieces, key=lambda piece: piece.word):
        texts = [piece.text for piece in group]
        text = "".join(texts).replace(WORD_START, " ").strip()
        words.append(_Word(text or " ", first, len(texts)))
        first += len(texts)
    return words


def _select(tokens: tuple[str, ...], mask: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(token for token, selected in zip(tokens, mask, strict=True) if selected)
