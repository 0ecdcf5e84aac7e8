"""The merges of a byte-pair vocabulary, for many words side by side (§5.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from training.data.sentences import Counts, Ids, spans
from transformer.config import UNK
from transformer.errors import ConfigError
from transformer.text.tokenizer import SPECIAL, WORD_START, Tokenizer

NO_MERGE = int(np.iinfo(np.int32).max)
"""In the place of a merge: two neighbours that make no piece."""


class Merges:
    """Which two pieces make which.

    A merge is known by the id of the piece that it makes, and the lower id comes first.

    Args:
        tokenizer: whose vocabulary it is.

    Attributes:
        begins_word: `[id]`, whether the piece begins with a space.
        lengths: `[id]`, characters of each piece; a special piece is one.
        end: an id beyond the vocabulary, for what stands behind the last piece of a word.

    Raises:
        ConfigError: if the vocabulary is not one of byte pairs within words.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        pieces, ranks = tokenizer.ranked_pieces()
        ids = {p: i for i, p in enumerate(pieces) if i not in SPECIAL and i != UNK}
        if not _are_byte_pairs(ids, ranks):
            raise ConfigError(
                "BPE-dropout needs a vocabulary of byte pairs, as training.train learns it: set "
                "bpe_dropout = 0."
            )
        self.begins_word: NDArray[np.bool_] = np.array([p.startswith(WORD_START) for p in pieces])
        spelled = [[ids[c] for c in p] if p in ids else [i] for i, p in enumerate(pieces)]
        self._spelled: Ids = np.concatenate(spelled).astype(np.int32)
        self.lengths: Counts = np.array([len(s) for s in spelled])
        self._starts = np.cumsum(self.lengths) - self.lengths
        self.end = len(pieces)
        pairs = {
            (self.end + 1) * ids[piece[:cut]] + ids[piece[cut:]]: made
            for piece, made in ids.items()
            for cut in range(1, len(piece))
            if piece[:cut] in ids and piece[cut:] in ids
        }
        # the last is no pair: what is looked up always finds a place
        self._pairs = np.array([*sorted(pairs), np.iinfo(np.int64).max])
        self._made: Ids = np.array([*(pairs[pair] for pair in sorted(pairs)), NO_MERGE], np.int32)

    def characters(self, pieces: Ids) -> Ids:
        """The pieces taken apart: ids of their characters."""
        return self._spelled[spans(self._starts[pieces], self.lengths[pieces])]

    def of(self, left: Ids, right: Ids) -> Ids:
        """The merge of each two neighbours, or NO_MERGE."""
        pairs = left.astype(np.int64) * (self.end + 1) + right
        at = np.searchsorted(self._pairs, pairs)
        return np.where(self._pairs[at] == pairs, self._made[at], NO_MERGE)

    def merge(self, symbols: Ids, merges: Ids, left: Counts, made: Ids) -> tuple[Ids, Ids]:
        """Merge one pair in each word.

        Args:
            symbols: `[word, n + 1]`, pieces, and `end` behind them.
            merges: `[word, n]`, of each symbol with the one behind it.
            left: `[word]`, the place of the pair.
            made: `[word]`, what it makes.

        Returns:
            Symbols and merges with one piece less.
        """
        places, words = np.arange(merges.shape[1]), np.arange(len(left))
        behind = places + (places > left[:, None])  # closes the gap
        symbols[:, :-1] = np.take_along_axis(symbols, behind, 1)
        symbols[words, left] = made
        merges[:, :-1] = np.take_along_axis(merges, behind[:, :-1], 1)
        for place in (np.maximum(left - 1, 0), left):
            merges[words, place] = self.of(symbols[words, place], symbols[words, place + 1])
        return symbols, merges


def _are_byte_pairs(ids: dict[str, int], ranks: list[float]) -> bool:
    """Whether pieces are ranked by their ids, cross no space, and have characters that are pieces.

    SentencePiece ranks byte pairs by 0, -1, -2 …; other kinds of vocabulary have other scores.
    """
    return bool(ids) and (
        all(ranks[id_] == min(ids.values()) - id_ for id_ in ids.values())
        and not any(WORD_START in piece[1:] for piece in ids)
        and set().union(*ids) <= ids.keys()
    )
