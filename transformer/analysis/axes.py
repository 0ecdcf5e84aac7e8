"""The tokens along the axes of a map: pieces or whole words, with or without special tokens."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from transformer import choices, errors, kinds
from transformer.arrays import Bools, Floats, Singles
from transformer.text import special_tokens, tokenizer
from transformer.text.special_tokens import SpecialTokens
from transformer.text.words import has_unspaced
from transformer.trace import AttentionTrace, Labels
from transformer.traces import external_tokens


class LabelledWeights(NamedTuple):
    """The weights of one kind with the tokens along their axes."""

    weights: Singles  # `[layer, head, query, key]`, float32
    labels: Labels
    reads: tuple[str, ...] | None = None  # `[query]` of cross-attention, where a row is written
    writes: tuple[str, ...] | None = None  # `[query]` of decoder_self, where a row is read
    special: SpecialTokens = special_tokens.OURS  # tokens that stand for no text
    head_counts: tuple[int, ...] | None = None  # of each layer; None where every layer has all
    causal: bool = True  # whether a decoder position sees no later one
    second_start: int | None = None  # row and column of the second text of a pair, in an encoder
    all_queries: int | None = None  # rows of the whole map, where only its first are here
    sinks: bool = True  # False for weights that `without_sinks` rescaled

    @choices.check_choices
    def is_causal(self, kind: kinds.Kind) -> bool:
        """Return whether a row sees no later key."""
        return kind == "decoder_self" and self.causal

    @property
    def existing_heads(self) -> Bools:
        """The mask of the heads that exist, `[layer, head]`."""
        layers, heads = self.weights.shape[:2]
        counts = np.array(self.head_counts or (heads,) * layers, dtype=int)
        return np.arange(heads) < counts[:, None]


def first_counted_row(queries: int, *, causal: bool, sinks: Bools | None = None) -> int:
    """Return the number of the first row that measures count.

    Under causal attention the first position can look at itself alone, so its row counts only
    if it is the only one. Likewise the next, where the `sinks`, `[key]`, are left out.
    """
    if not causal:
        return 0
    keys = np.ones(queries, dtype=bool) if sinks is None else ~sinks
    free = np.flatnonzero(keys.cumsum() > 1)
    return int(free[0]) if len(free) else max(queries - 1, 0)


APART = (
    "Chinese, Japanese, Thai, Lao, Khmer and Burmese put no spaces between words: each piece of "
    "them stands by itself."
)


class _Word(NamedTuple):
    text: str
    first: int  # position of its first piece
    pieces: int

    @property
    def last(self) -> int:
        return self.first + self.pieces - 1


@choices.check_choices
def by_pieces(trace: AttentionTrace, kind: kinds.Kind) -> LabelledWeights:
    """Label the weights as the model has them, one row and one column for each piece."""
    both = trace.writes_known and trace.reads_known
    return LabelledWeights(
        trace.weights(kind),
        trace.labels(kind),
        reads=trace.decoder_tokens if kind == "cross" and both else None,
        writes=trace.target_tokens if kind == "decoder_self" and both else None,
        special=trace.special,
        head_counts=trace.head_counts.get(kind),
        causal=trace.causal,
        second_start=trace.second_start if kind == "encoder_self" else None,
    )


@choices.check_choices
def by_words(trace: AttentionTrace, kind: kinds.Kind) -> LabelledWeights:
    """Merge pieces to words: the sum over a key word's pieces, the mean over a query word's.

    So a row still sums to 1. Words are as they were typed, without `▁`; special tokens are words of
    their own. The same step from pieces to words as in Clark et al. 2019, §4.1.
    """
    source, written, read = (
        _words(pieces)
        for pieces in (trace.source_pieces, trace.target_pieces, trace.decoder_pieces)
    )
    queries, keys = kinds.axes(kind, source, read, written or None)
    weights = trace.weights(kind)  # [layer, head, piece, piece]
    summed = np.add.reduceat(weights, [word.first for word in keys], axis=-1)
    summed = np.add.reduceat(summed, [word.first for word in queries], axis=-2)
    count = np.array([word.pieces for word in queries], dtype=np.float32)
    merged = (summed / count[:, None]).astype(np.float32, copy=False)
    labels = Labels(tuple(word.text for word in queries), tuple(word.text for word in keys))
    both = bool(written and read)
    axes = by_pieces(trace, kind)
    start = axes.second_start
    return axes._replace(
        weights=merged,
        labels=labels,
        second_start=None if start is None else sum(word.first < start for word in keys),
        # the word read before one is written, and the word written once one is read
        reads=_words_at(read, [w.first for w in written]) if kind == "cross" and both else None,
        writes=_words_at(written, [w.last for w in read])
        if kind == "decoder_self" and both
        else None,
    )


def apart_note(trace: AttentionTrace) -> str:
    """Return a sentence if a text of the trace has no spaces between words, else ""."""
    tokens = (*trace.source_tokens, *trace.target_tokens, *trace.decoder_tokens)
    return APART if has_unspaced("".join(tokens)) else ""


def without_special(axes: LabelledWeights) -> tuple[LabelledWeights, Floats]:
    """Drop `<s>`, `</s>` and their like from rows and columns; no weight that stays is changed.

    Return what is left, and for each head what the dropped columns absorb: the share of the
    remaining rows' weight that went there, `[layer, head]`, 0 to 1. A row sums to 1 less its own
    share.
    """
    rows, columns = (
        np.array([token not in axes.special.tokens for token in tokens], dtype=bool)
        for tokens in axes.labels
    )
    if not rows.any() or not columns.any():
        raise errors.InputError(
            "There is nothing but the start and the end of the sentence: show the special tokens."
        )
    shown_rows = axes.weights[:, :, rows]  # [layer, head, shown query, key]
    absorbed = shown_rows[..., ~columns].sum(-1, dtype=np.float64).mean(-1)
    labels = Labels(_select(axes.labels.queries, rows), _select(axes.labels.keys, columns))
    reads, writes = (
        None if tokens is None else _select(tokens, rows) for tokens in (axes.reads, axes.writes)
    )
    start = axes.second_start
    shown = axes._replace(
        weights=shown_rows[..., columns],
        labels=labels,
        reads=reads,
        writes=writes,
        second_start=None if start is None else int(columns[:start].sum()),
    )
    return shown, absorbed


def first_pieces(pieces: Sequence[tokenizer.Piece]) -> list[int]:
    """Find the position of each word's first piece."""
    return [word.first for word in _words(pieces)]


def _words(pieces: Sequence[tokenizer.Piece]) -> list[_Word]:
    words: list[_Word] = []
    first = 0
    for _, group in groupby(pieces, key=lambda piece: piece.word):
        texts = [piece.text for piece in group]
        text = external_tokens.join_pieces(texts).strip()
        words.append(_Word(text or " ", first, len(texts)))
        first += len(texts)
    return words


def _words_at(words: Sequence[_Word], positions: Sequence[int]) -> tuple[str, ...]:
    firsts = [word.first for word in words]
    return tuple(words[bisect_right(firsts, position) - 1].text for position in positions)


def mean_of_heads(axes: LabelledWeights) -> Singles:
    """Average over the heads that each layer has, `[layer, query, key]`."""
    counts = axes.existing_heads.sum(-1)[:, None, None]
    return axes.weights.sum(1) / counts.astype(np.float32)


def _select(tokens: tuple[str, ...], mask: Bools) -> tuple[str, ...]:
    return tuple(token for token, selected in zip(tokens, mask, strict=True) if selected)
