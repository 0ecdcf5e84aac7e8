"""BPE-dropout (Provilkov et al. 2020): merges are skipped at random. Not in the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from tempfile import TemporaryFile

import numpy as np
from numpy.typing import NDArray

from training.data.corpus import CorpusError
from training.data.encoded_text import (
    NAMES,
    Counts,
    EncodedFiles,
    EncodedText,
    Ids,
    Sentences,
    TrainingText,
    spans,
)
from transformer.config import UNK
from transformer.errors import ConfigError
from transformer.text.tokenizer import SPECIAL, WORD_START, Tokenizer

Streams = NDArray[np.uint64]  # each element is the seed of a stream of draws

LINES_AT_ONCE = 20_000
CHARACTERS_AT_ONCE = 2**16  # of words that are merged side by side: they stay in the cache


class BpeDropout:
    """Cuts encoded lines into other pieces, each merge skipped with the same probability.

    A pair of neighbours that was skipped stays apart, unless one of the two is merged with its
    other neighbour. Each word has a stream of draws, one draw for each merge that comes up: they
    follow from a seed and the number of the line alone, where SentencePiece samples from a
    generator whose draws no other process can repeat.

    Raises:
        ConfigError: if the vocabulary is not one of byte pairs within words.
    """

    def __init__(self, tokenizer: Tokenizer, dropout: float) -> None:
        self._merges = Merges(tokenizer)
        self._threshold = np.uint64(round(dropout * 2**53))

    def sample_text(self, text: TrainingText, seed: Sequence[int], max_pieces: int) -> TrainingText:
        """Cut both sides anew; pairs with a side that becomes too long are left out and counted.

        The result lies in temporary files, in the folder of Python's `tempfile`, which are removed
        with it. Memory is needed for some thousand lines at a time.

        Raises:
            CorpusError: if no pair is left.
            OSError: if there is no room for the files.
        """
        whole, ends = text.encoded, np.cumsum([part.rows for part in text.parts])
        kept_until = np.zeros(len(ends), dtype=np.int64)  # of each part and those before it
        with ExitStack() as stack:
            files = {name: stack.enter_context(TemporaryFile()) for name in NAMES}
            cut = EncodedFiles(files, whole.source.stored.dtype)
            for first in range(0, len(whole), LINES_AT_ONCE):
                some, usable = self._sample_pairs(whole, first, seed, max_pieces)
                cut.append(some)
                kept_until += np.searchsorted(usable + first, ends)
            if not (pairs := int(kept_until[-1])):
                raise CorpusError(
                    f"BPE-dropout cuts every sentence into more than {max_pieces - 1} pieces: "
                    f"lower bpe_dropout or raise max_pieces."
                )
            encoded = cut.mapped(whole.left_out + len(whole) - pairs)
        counts = np.diff(kept_until, prepend=0).tolist()
        parts = [replace(part, rows=rows) for part, rows in zip(text.parts, counts, strict=True)]
        return TrainingText(encoded, tuple(parts))

    def _sample_pairs(
        self, text: EncodedText, first: int, seed: Sequence[int], max_pieces: int
    ) -> tuple[EncodedText, Counts]:
        """Sample the pieces of some pairs; return them with the indices of those not too long."""
        rows = slice(first, first + LINES_AT_ONCE)
        numbers = np.asarray(text.lines[rows], dtype=np.int64)
        sides = [
            Sentences.from_arrays(
                *self.sample(
                    sentences.pieces(rows), sentences.lengths(rows), numbers, (*seed, side)
                )
            )
            for side, sentences in enumerate((text.source, text.target))
        ]
        longer = np.maximum(*(sentences.lengths() for sentences in sides))
        usable = np.flatnonzero(longer < max_pieces)
        source, target = (sentences.take(usable) for sentences in sides)
        return EncodedText(source, target, numbers[usable]), usable

    def sample(
        self, pieces: Ids, lengths: Counts, numbers: Counts, seed: Sequence[int]
    ) -> tuple[Ids, Counts]:
        """Cut lines anew.

        Args:
            pieces: ids of all lines, one line behind the other, as the tokenizer encodes them.
            lengths: `[line]`, how many pieces each has.
            numbers: `[line]`, its number in the text.
            seed: whole numbers from 0.

        Returns:
            Ids and lengths of the lines as they are cut now.
        """
        key = np.zeros(1, dtype=np.uint64)
        for number in seed:
            key = draws(key, number)
        ends = np.cumsum(lengths)
        parts = [(pieces[:0], lengths[:0])]
        for first in range(0, len(lengths), LINES_AT_ONCE):
            some = slice(first, first + LINES_AT_ONCE)
            span = slice(ends[first] - lengths[first], ends[some][-1])
            streams = draws(key, numbers[some])
            parts.append(self._sample(pieces[span], lengths[some], streams))
        return np.concatenate([p for p, _ in parts]), np.concatenate([n for _, n in parts])

    def _sample(self, pieces: Ids, lengths: Counts, line_streams: Streams) -> tuple[Ids, Counts]:
        """Sample the pieces of lines, each with its own random stream."""
        lines = np.repeat(np.arange(len(lengths)), lengths)  # of each piece
        is_first = self._merges.begins_word[pieces] | (np.diff(lines, prepend=-1) > 0)
        starts = np.flatnonzero(is_first)  # of each word among the pieces
        counts = np.diff(starts, append=len(pieces))
        lines = lines[starts]
        places = np.arange(len(lines)) - np.searchsorted(lines, lines)  # of each word in its line
        streams = draws(line_streams[lines], places)
        total = np.cumsum(np.append(0, self._merges.lengths[pieces]))
        characters = total[starts + counts] - total[starts]
        # a merge makes one piece of two: so many came up where none was skipped
        changed = np.flatnonzero(self._any_skipped(streams, characters - counts))
        in_words = pieces[spans(starts[changed], counts[changed])]
        cuts, size = [pieces], len(pieces)
        for some, cut, cut_counts in self._cut(in_words, characters[changed], streams[changed]):
            words = changed[some]
            starts[words] = size + np.cumsum(cut_counts) - cut_counts
            counts[words] = cut_counts
            cuts.append(cut)
            size += len(cut)
        new_lengths = np.bincount(lines, counts, len(lengths)).astype(np.int64)
        return np.concatenate(cuts)[spans(starts, counts)], new_lengths

    def _any_skipped(self, streams: Streams, merges: Counts) -> NDArray[np.bool_]:
        """Return whether one of the first `merges` draws of each word skips its merge, `[word]`."""
        skipped = np.zeros(len(streams), dtype=bool)
        words = np.arange(len(streams))
        for number in range(merges.max(initial=0)):
            words = words[(merges[words] > number) & ~skipped[words]]
            skipped[words] = self._skips(streams[words], number)
        return skipped

    def _cut(
        self, pieces: Ids, characters: Counts, streams: Streams
    ) -> Iterator[tuple[Counts, Ids, Counts]]:
        """Take words apart into characters, and merge words of equal length side by side.

        Args:
            pieces: of all words, one word behind the other.
            characters: `[word]`, how many each has.
            streams: `[word]`

        Yields:
            Numbers of some words, the ids of their pieces, and how many each has.
        """
        flat = self._merges.characters(pieces)
        starts = np.cumsum(characters) - characters
        by_length = np.argsort(characters, kind="stable")
        lengths, firsts = np.unique(characters[by_length], return_index=True)
        for length, words in zip(lengths, np.split(by_length, firsts)[1:], strict=True):
            at_once = max(1, CHARACTERS_AT_ONCE // int(length))
            for first in range(0, len(words), at_once):
                some = words[first : first + at_once]
                cut = self._merge(flat[starts[some][:, None] + np.arange(length)], streams[some])
                is_piece = cut != self._merges.end
                yield some, cut[is_piece], is_piece.sum(1)

    def _merge(self, characters: Ids, streams: Streams) -> Ids:
        """Merge the characters of words, `[word, character]`, until no merge comes up.

        Returns:
            `[word, character + 1]`, the pieces of each word and behind them `end`.
        """
        result = np.pad(characters, ((0, 0), (0, 1)), constant_values=self._merges.end)
        words, symbols = np.arange(len(result)), result.copy()
        merges = self._merges.lookup(symbols[:, :-1], symbols[:, 1:])
        for number in range(2**63):  # each word ends by itself
            left = merges.argmin(1)  # of the pair that is merged next
            merged = np.take_along_axis(merges, left[:, None], 1)[:, 0]
            if (ended := merged == NO_MERGE).any():
                result[words[ended]] = symbols[ended]
                words, symbols, merges, streams, left, merged = (
                    array[~ended] for array in (words, symbols, merges, streams, left, merged)
                )
            if not len(words):
                break
            skips = self._skips(streams, number)
            merges[skips, left[skips]] = NO_MERGE
            symbols[~skips], merges[~skips] = self._merges.merge(
                symbols[~skips], merges[~skips], left[~skips], merged[~skips]
            )
        return result

    def _skips(self, streams: Streams, number: int) -> NDArray[np.bool_]:
        """Return whether the draw of this number, from 0, skips a merge in each stream."""
        return (draws(streams, number) >> np.uint64(11)) < self._threshold


def draws(streams: Streams, numbers: Counts | int) -> Streams:
    """Draw a number, from 0, from each stream: SplitMix64 (Steele, Lea & Flood 2014).

    Whole numbers modulo 2^64, so that every machine draws the same.
    """
    bits = np.atleast_1d(numbers).astype(np.uint64) + np.uint64(1)
    bits = streams + bits * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


NO_MERGE = int(np.iinfo(np.int32).max)
"""In the place of a merge: two neighbours that make no piece."""


class Merges:
    """Merges of a byte-pair vocabulary: which two pieces form which.

    A merge is known by the id of the piece that it makes, and the lower id comes first.

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
        """Split pieces into the ids of their characters."""
        return self._spelled[spans(self._starts[pieces], self.lengths[pieces])]

    def lookup(self, left: Ids, right: Ids) -> Ids:
        """Return the merge of each two neighbours, or NO_MERGE."""
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
            merges[words, place] = self.lookup(symbols[words, place], symbols[words, place + 1])
        return symbols, merges


def _are_byte_pairs(ids: dict[str, int], ranks: list[float]) -> bool:
    """Return whether ids rank the pieces, none crosses a space, and all characters are pieces.

    SentencePiece ranks byte pairs by 0, -1, -2 …; other kinds of vocabulary have other scores.
    """
    return bool(ids) and (
        all(ranks[id_] == min(ids.values()) - id_ for id_ in ids.values())
        and not any(WORD_START in piece[1:] for piece in ids)
        and set().union(*ids) <= ids.keys()
    )
