"""Soft alignments as toolkits write them: one weight for each target and source subword."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from transformer.errors import InputError, quoted
from transformer.traces.fields import Weights

_FIELDS = " ||| "


class SoftAlignment(NamedTuple):
    """The alignment of one sentence, by the names of `AttentionTrace.from_arrays`."""

    cross: Weights
    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]


def weights_of_line(line: str) -> Weights:
    """Return `[1, 1, target, source]` of a line of Marian or fairseq.

    Args:
        line: of `--alignment soft` (Marian), `translation ||| rows`, also in an n-best list; or of
            `--print-alignment soft` (fairseq), `A-0`, a tab and the rows. A row has one number for
            each source subword; there is one row for each target subword; both count `</s>`.

    Raises:
        InputError: if the line has no such rows.
    """
    fields = line.strip("\r\n").split(_FIELDS)
    place = 2 if len(fields) > 4 else min(1, len(fields) - 1)  # an n-best list begins with a number
    rows = [row.split(",") for row in fields[place].rpartition("\t")[2].split()]
    return _weights(rows, "The line")


def read_matrices(lines: Iterable[str]) -> Iterator[SoftAlignment]:
    """Yield each sentence of a file of Nematus or Sockeye 1.

    Args:
        lines: of `--output_alignment` (Nematus), a row for each target subword, or of
            `--output-type translation_with_alignment_matrix` (Sockeye 1), a row for each source
            subword. Above the rows of a sentence is a line with its number and its tokens.

    Raises:
        InputError: if a sentence has no such rows, or other counts than its tokens.
    """
    header, rows = list[str](), list[list[str]]()
    for line in lines:
        fields = line.strip("\r\n").split(_FIELDS)
        if len(fields) == 1:
            rows += [line.split()] if line.strip() else []
            continue
        if header or rows:
            yield _sentence(header, rows)
        header, rows = fields, []
    if header or rows:
        yield _sentence(header, rows)


def _sentence(header: Sequence[str], rows: Sequence[Sequence[str]]) -> SoftAlignment:
    if len(header) not in (5, 6):
        first = _FIELDS.join(header) or " ".join(rows[0])
        raise InputError(
            f"A sentence begins with {quoted(first)}: give its number, tokens and counts, which "
            f"are 5 fields of Nematus or 6 of Sockeye, separated by |||."
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


def _weights(rows: Sequence[Sequence[str]], where: str) -> Weights:
    lengths = {len(row) for row in rows}
    if len(lengths) != 1:
        counts = f"rows of {min(lengths)} to {max(lengths)} numbers" if lengths else "no rows"
        raise InputError(f"{where} has {counts}: a soft alignment has as many in each row.")
    return np.array([[_number(text, where) for text in row] for row in rows], np.float32)[
        None, None
    ]


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(
            f"{where} has {quoted(text)} where a weight should be: write soft alignments, which "
            f"are numbers, and not pairs of positions."
        ) from error
