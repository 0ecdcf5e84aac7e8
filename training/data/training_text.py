"""The text that a run trains on: encoded pairs in parts, each read as often as its weight says."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property

import numpy as np

from training.data import encoded_files
from training.data.corpus import EncodedText, ParallelText, encode_chunks, joined, refuse_empty
from training.data.folders import DataFolder
from training.data.sentences import Counts
from transformer.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Part:
    """The rows of one folder.

    Args:
        rows: how many there are.
        weight: how often an epoch reads each of them.
    """

    rows: int
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class TrainingText:
    """Encoded pairs, and how often each is read.

    Args:
        encoded: the pairs.
        parts: its rows, one part behind the other.
        checksums: of the text as `encoded_files` computes them, where they are known.
    """

    encoded: EncodedText
    parts: tuple[Part, ...]
    checksums: Mapping[str, str] = field(default_factory=dict)

    def rows(self, seed: int, epoch: int) -> Counts:
        """Return the numbers of the rows that an epoch reads.

        Of a part of weight w each row comes ⌊w⌋ times; for the rest, rows are drawn at random, none
        of them twice, so many that after any number of epochs w times all rows were read, to the
        nearest whole number.

        Args:
            seed: of what is drawn; a whole number from 0.
            epoch: its number, from 0.
        """
        chosen, start = [np.arange(0)], 0
        for number, part in enumerate(self.parts):
            often, rest = divmod(part.weight, 1)
            rows = np.arange(start, start + part.rows)
            chosen += [rows] * int(often)
            if further := _until(epoch + 1, rest, part.rows) - _until(epoch, rest, part.rows):
                random = np.random.default_rng((seed, epoch, number))
                drawn = random.choice(part.rows, further, replace=False, shuffle=False)
                chosen.append(np.sort(drawn) + start)
            start += part.rows
        return np.concatenate(chosen)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the pieces, their order, their lines and the weights."""
        checksums = self.checksums or encoded_files.checksums(self.encoded)
        parts = [astuple(part) for part in self.parts]
        written = json.dumps([checksums, parts], sort_keys=True)
        return hashlib.sha256(written.encode()).hexdigest()


def _until(epoch: int, weight: float, rows: int) -> int:
    """Count the rows that all earlier epochs draw for a weight below 1."""
    return math.floor(epoch * weight * rows + 0.5)


def encode_texts(
    folders: Sequence[DataFolder],
    texts: Sequence[ParallelText],
    tokenizer: Tokenizer,
    max_pieces: int,
    progress: bool = False,
) -> TrainingText:
    """Encode the text of each folder; pairs with an empty or overlong side are left out.

    Args:
        folders: what the texts were read from.
        texts: of each folder; a line is counted on from one to the next.
        tokenizer: the tokenizer of both languages.
        max_pieces: the pieces of a side must be fewer.
        progress: show a bar on a terminal, if it takes a while.

    Raises:
        CorpusError: if no pair is left.
    """
    encoded, first_line = [], 0
    for text in texts:
        chunks = encode_chunks(
            text, (tokenizer, tokenizer), max_pieces, first_line=first_line, progress=progress
        )
        encoded.append(joined(chunks))
        first_line += len(text)
    parts = [Part(len(rows), folder.weight) for folder, rows in zip(folders, encoded, strict=True)]
    refuse_empty(sum(part.rows for part in parts), max_pieces)
    return TrainingText(joined(encoded), tuple(parts))
