"""Sentences on which each head does most what its role says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from training.data.corpus import CorpusError, read_lines
from transformer import Translator
from transformer.analysis.axes import by_pieces
from transformer.analysis.corpus.corpus_roles import LARGEST_OFFSET, measure_sentence
from transformer.analysis.corpus.head_report import Example
from transformer.analysis.corpus.stored import MOST_LETTERS
from transformer.analysis.heads.head import Head
from transformer.errors import InputError
from transformer.kinds import KINDS, Kind
from transformer.trace import AttentionTrace

EXAMPLES_OF_A_HEAD = 3


def example_traces(translator: Translator, path: Path) -> list[AttentionTrace]:
    """Trace the model's own translations of the example sentences.

    Raises:
        CorpusError: if there is none.
        InputError: if the model cannot translate one, or a report cannot hold it.
    """
    lines = [line for line in read_lines(path) if line.strip()]
    if not lines:
        raise CorpusError(f"{path} has no sentence: give one a line, or leave --examples out.")
    traces = []
    for number, line in enumerate(tqdm(lines, "examples", disable=None), start=1):
        try:
            _require_room(line, "sentence")
            trace = translator.trace(line)
            _require_room(trace.target, "translation")
        except InputError as error:
            raise InputError(f"{path} sentence {number:,}: {error}") from error
        traces.append(trace)
    return traces


def _require_room(text: str, name: str) -> None:
    if len(text) > MOST_LETTERS:
        raise InputError(
            f"The {name} has {len(text):,} characters, but a report holds at most {MOST_LETTERS:,} "
            f"of a text: leave it out."
        )


def examples_of_heads(
    traces: Sequence[AttentionTrace],
    roles: dict[Head, str],
    offsets: dict[Head, int],
) -> dict[Head, tuple[Example, ...]]:
    """For each head the sentences on which it does most what its role says."""
    counts = Counter(
        piece.text for trace in traces for piece in (*trace.source_pieces, *trace.target_pieces)
    )
    scores: dict[Head, list[float]] = {place: [] for place in roles}
    for trace in traces:
        for kind in KINDS:
            measured = measure_sentence(
                by_pieces(trace, kind), kind, _key_counts(trace, kind, counts)
            )
            at_offset = measured.offset_counts / measured.rows
            for place, role in roles.items():
                if place.kind != kind:
                    continue
                if role == "positional":
                    score = at_offset[place.layer, place.head, offsets[place] + LARGEST_OFFSET]
                else:
                    score = measured.values[role or "confidence"][place.layer, place.head]
                scores[place].append(float(score))
    return {
        place: tuple(
            Example(traces[n].source, traces[n].target, measured[n])
            for n in np.argsort(np.negative(measured), kind="stable")[:EXAMPLES_OF_A_HEAD]
        )
        for place, measured in scores.items()
    }


def _key_counts(trace: AttentionTrace, kind: Kind, counts: Mapping[str, int]) -> list[int]:
    if kind == "decoder_self":  # reads <s> first, which is no word
        return [0, *(counts[piece.text] for piece in trace.target_pieces[:-1])]
    return [counts[piece.text] for piece in trace.source_pieces]
