"""Soft alignments as toolkits write them: one weight for each target and source subword."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from transformer.arrays import Singles
from transformer.errors import InputError, quoted, shortened

_FIELDS = " ||| "
_LARGEST = float(np.finfo(np.float32).max)


class SoftAlignment(NamedTuple):
    """The alignment of one sentence, by the names of `AttentionTrace.from_arrays`."""

    cross: Singles
    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]


def weights_of_line(line: str) -> Singles:
    """Return `[1, 1, target, source]` of a line of Marian or fairseq.

    Args:
        line: of `--alignment soft` (Marian), `translation ||| rows`, also in an n-best list; or of
            `--print-alignment soft` (fairseq), `A-0`, a tab and the rows. A row has one number for
            each source subword; there is one row for each target subword; both count `</s>`.

    Raises:
        InputError: if the line has no such rows.
    """
    fields = _fields(line)
    place = 2 if len(fields) > 4 else min(1, len(fields) - 1)  # an n-best list begins with a number
    rows = [row.split(",") for row in fields[place].rpartition("\t")[2].split()]
    return _weights(rows, "The line")


def read_matrices(lines: Iterable[str]) -> Iterator[SoftAlignment]:
    """Yield each sentence of a file of Nematus or Sockeye 1.

    Args:
        lines: an open file, its lines or its text, of `--output_alignment` (Nematus), a row for
            each target subword, or of `--output-type translation_with_alignment_matrix`
            (Sockeye 1), a row for each source subword. Above the rows of a sentence is a line with
            its number and its tokens.

    Raises:
        InputError: if a sentence has no such rows, or other counts than its tokens.
    """
    header, rows = list[str](), list[list[str]]()
    for line in lines.split("\n") if isinstance(lines, str) else lines:
        fields = _fields(line)
        if len(fields) == 1:
            rows += [line.split()] if line.strip() else []
            continue
        if header or rows:
            yield _sentence(header, rows)
        header, rows = fields, []
    if header or rows:
        yield _sentence(header, rows)


def _fields(line: object) -> list[str]:
    if not isinstance(line, str):
        raise InputError(
            f"A line is {shortened(quoted(line), 80)}, which is no text: open the file as text."
        )
    return line.strip("\r\n").split(_FIELDS)


def _sentence(header: Sequence[str], rows: Sequence[Sequence[str]]) -> SoftAlignment:
    if len(header) not in (5, 6):
        first = _FIELDS.join(header) or " ".join(rows[0])
        raise InputError(
            f"A sentence begins with {shortened(quoted(first), 80)}: give its number, tokens and "
            f"counts, which are 5 fields of Nematus or 6 of Sockeye, separated by |||."
        )
    weights = _weights(rows, f"Sentence {header[0]}")
    if len(header) == 6:  # Sockeye writes a row for each source subword
        weights = weights.swapaxes(-1, -2)
    texts = (tuple(header[1].split()), tuple(header[3].split()))
    target, source = (
        (*tokens, "</s>") if count == len(tokens) + 1 else tokens  # Nematus does not name it
        for tokens, count in zip(texts, weights.shape[2:], strict=True)
    )
    return SoftAlignment(weights, source, target)


def _weights(rows: Sequence[Sequence[str]], where: str) -> Singles:
    lengths = {len(row) for row in rows}
    if len(lengths) != 1:
        counts = f"rows of {min(lengths)} to {max(lengths)} numbers" if lengths else "no rows"
        raise InputError(f"{where} has {counts}: a soft alignment has as many in each row.")
    return np.array([[_number(text, where) for text in row] for row in rows], np.float32)[
        None, None
    ]


def _number(text: str, where: str) -> float:
    with suppress(ValueError):
        if abs(weight := float(text)) <= _LARGEST:
            return weight
    raise InputError(
        f"{where} has {shortened(quoted(text), 80)} where a weight should be: write soft "
        f"alignments, which are numbers, and not pairs of positions."
    )
