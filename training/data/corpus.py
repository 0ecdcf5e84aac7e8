"""Parallel text: line N of `train.en` is translated by line N of `train.de`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from training.data.lines import CHUNK, MOST_BYTES, line_chunks
from training.data.lines import CorpusError as CorpusError
from training.data.lines import read_lines as read_lines
from training.data.sentences import Counts, Sentences, stored_type
from transformer.text.tokenizer import Tokenizer

SOURCE, TARGET = "en", "de"


@dataclass(frozen=True)
class ParallelText:
    """Sentences and their translations."""

    source: list[str]
    target: list[str]

    def __len__(self) -> int:
        return len(self.source)

    def __add__(self, other: ParallelText) -> ParallelText:
        return ParallelText(self.source + other.source, self.target + other.target)


def read_parallel(prefix: Path) -> ParallelText:
    """Read `prefix.en` and `prefix.de`, as `read_files` does."""
    return read_files(Path(f"{prefix}.{SOURCE}"), Path(f"{prefix}.{TARGET}"))


def read_files(source_path: Path, target_path: Path) -> ParallelText:
    """Read two files of which each line is the translation of the other's.

    Raises:
        CorpusError: as `pair_chunks` does.
    """
    text = ParallelText([], [])
    for chunk in pair_chunks(source_path, target_path):
        text.source.extend(chunk.source)
        text.target.extend(chunk.target)
    return text


def pair_chunks(
    source_path: Path, target_path: Path, at_most: int = MOST_BYTES
) -> Iterator[ParallelText]:
    """Yield the pairs of two files, `CHUNK` at a time; the last chunk may be shorter.

    Args:
        source_path: file of the source sentences.
        target_path: file of the target sentences.
        at_most: bytes that each file may have.

    Raises:
        CorpusError: if a file is missing or empty, has a line that is no sentence of UTF-8, or the
            two differ in length.
    """
    sides = (line_chunks(path, CHUNK, at_most) for path in (source_path, target_path))
    lines = others = 0
    for source, target in zip_longest(*sides, fillvalue=[]):
        lines, others = lines + len(source), others + len(target)
        if lines == others:
            yield ParallelText(source, target)
    if lines != others:
        raise CorpusError(
            f"{source_path} has {lines:,} lines and {target_path} has {others:,}: each line must "
            f"stand beside its translation."
        )
    if not lines:
        raise CorpusError(f"{source_path} is empty: give at least one sentence.")


def read_validation_text(folder: Path) -> ParallelText:
    """Read the validation text of a folder."""
    return read_parallel(validation_prefix(folder))


def validation_prefix(folder: Path) -> Path:
    """Find the path prefix of the validation text: `valid`, or `val` as in Multi30k."""
    return folder / ("val" if (folder / f"val.{SOURCE}").exists() else "valid")


@dataclass(frozen=True, eq=False)
class EncodedText:
    """Parallel text as token ids, without special pieces.

    Args:
        source, target: the ids of each sentence.
        lines: the line of the text, from 0, that each pair was.
        left_out: how many pairs were empty or too long.
    """

    source: Sentences
    target: Sentences
    lines: Sequence[int] | Counts = ()
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.source)


def encode(
    text: ParallelText,
    tokenizer: Tokenizer,
    max_pieces: int,
    *,
    target_tokenizer: Tokenizer | None = None,
    progress: bool = False,
) -> EncodedText:
    """Encode every pair; those with an empty or overlong side are left out and counted.

    Args:
        text: the sentence pairs.
        tokenizer: the tokenizer of both languages.
        max_pieces: least number of pieces that is too long.
        target_tokenizer: of the target, unless one serves both languages.
        progress: show a bar on a terminal, if it takes a while.

    Raises:
        CorpusError: if no pair is left.
    """
    tokenizers = (tokenizer, target_tokenizer or tokenizer)
    encoded = joined(encode_chunks(text, tokenizers, max_pieces, progress=progress))
    refuse_empty(len(encoded), max_pieces)
    return encoded


def refuse_empty(pairs: int, max_pieces: int) -> None:
    """Raise CorpusError if a text has no usable pair."""
    if not pairs:
        raise CorpusError(
            f"No sentence pair has between 1 and {max_pieces - 1} pieces on both sides: raise "
            f"max_pieces or check the files."
        )


def encode_chunks(
    text: ParallelText,
    tokenizers: tuple[Tokenizer, Tokenizer],
    max_pieces: int,
    *,
    first_line: int = 0,
    progress: bool = False,
) -> Iterator[EncodedText]:
    """Encode a text some pairs at a time.

    Args:
        text: the sentence pairs.
        tokenizers: of the source and of the target.
        max_pieces: least number of pieces that is too long.
        first_line: the line of its first pair, where it follows another text.
        progress: function that takes the number of encoded pairs.
    """
    starts = range(0, max(1, len(text)), CHUNK)
    for start in tqdm(starts, "pieces", delay=3, disable=None if progress else True):
        chunk = slice(start, start + CHUNK)
        pairs = ParallelText(text.source[chunk], text.target[chunk])
        lines = np.arange(len(pairs)) + first_line + start
        yield encode_chunk(pairs, tokenizers, max_pieces, lines)


def encode_chunk(
    pairs: ParallelText, tokenizers: tuple[Tokenizer, Tokenizer], max_pieces: int, lines: Counts
) -> EncodedText:
    """Encode some pairs at once, which are these lines of the text."""
    sides = [
        _stored(side, tokenizer)
        for side, tokenizer in zip((pairs.source, pairs.target), tokenizers, strict=True)
    ]
    lengths = np.array([side.lengths() for side in sides])
    usable = np.flatnonzero(((lengths > 0) & (lengths < max_pieces)).all(0))
    source, target = (side.take(usable) for side in sides)
    return EncodedText(source, target, lines[usable], len(pairs) - len(usable))


def _stored(lines: Sequence[str], tokenizer: Tokenizer) -> Sentences:
    ids = tokenizer.encode_all(lines)
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    dtype: np.dtype[Any] = np.dtype(stored_type(tokenizer.vocab_size))
    return Sentences.from_arrays(np.fromiter(chain.from_iterable(ids), dtype), lengths)


def joined(chunks: Iterable[EncodedText]) -> EncodedText:
    """Join the pairs of all chunks."""
    all_ = list(chunks)
    source, target = (
        Sentences.from_arrays(
            np.concatenate([side.stored for side in sides]),
            np.concatenate([side.lengths() for side in sides]),
        )
        for sides in ([chunk.source for chunk in all_], [chunk.target for chunk in all_])
    )
    lines = np.concatenate([np.asarray(chunk.lines, np.int64) for chunk in all_])
    return EncodedText(source, target, lines, sum(chunk.left_out for chunk in all_))
