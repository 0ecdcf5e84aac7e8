"""What a trace must hold, and where it does not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from transformer import AttentionTrace
from transformer.kinds import KINDS, Kind
from transformer.traces.fields import Weights


class Seen(NamedTuple):
    """What must stand in a trace.

    Args:
        weights: of each kind, `[layer, head, query, key]`.
        source: tokens of the source.
        reads: what the decoder reads at each position.
    """

    weights: dict[Kind, Weights]
    source: list[str]
    reads: list[str]

    def axes(self, kind: Kind) -> tuple[list[str], list[str]]:
        """The tokens of queries and keys, a decoder position by what it reads."""
        queries = self.source if kind == "encoder_self" else self.reads
        return queries, self.reads if kind == "decoder_self" else self.source


def differences(trace: AttentionTrace, seen: Seen, tolerance: float) -> list[str]:
    """Kinds, weights and tokens that are others, in words.

    Args:
        tolerance: absolute; at 0 every bit counts.
    """
    expected = tuple(kind for kind in KINDS if kind in seen.weights)
    if trace.kinds != expected:
        return [f"the kinds are {trace.kinds}, not {expected}"]
    found = []
    for kind, weights in seen.weights.items():
        mine = trace.weights(kind)
        if mine.shape != weights.shape:
            found.append(f"{kind} is {mine.shape}, not {weights.shape}")
            continue
        apart = float(np.abs(mine - weights).max())
        if apart > tolerance:
            found.append(f"{kind} is {apart:.2g} from the library's")
        labels = trace.labels(kind, None if kind == "encoder_self" else "reads")
        if tuple(map(list, labels)) != seen.axes(kind):
            found.append(f"{kind} stands under {labels}, not {seen.axes(kind)}")
    return found


def unlike(trace: AttentionTrace, kind: Kind, query: int, layer: int, rows: Weights) -> list[str]:
    """A row of a trace that is none of those that the library returned in a step, to the bit.

    Args:
        rows: `[row, head, key]` of the step, without padding.
    """
    mine = trace.weights(kind)[layer, :, query, : rows.shape[-1]]
    if (rows == mine).all((1, 2)).any():
        return []
    return [f"{kind}, layer {layer}, row {query}: none of its step's rows"]


def not_read_back(
    trace: AttentionTrace, kind: Kind, place: tuple[int, int, int, int], value: float, seen: Seen
) -> list[str]:
    """Whether a value stands where it was put, and nowhere else, under its tokens.

    Args:
        place: layer, head, query and key of the trace.
    """
    queries, keys = seen.axes(kind)
    frame = trace.to_frame()
    hits = frame[frame.weight == value]
    columns = ["kind", "layer", "head", "query", "key", "key_token"]
    found = [tuple(row) for row in hits[columns].itertuples(index=False)]
    wrong = []
    if found != [(kind, *place, keys[place[3]])]:
        wrong.append(f"planted in {kind} at {place}, found at {found}")
    by_read = trace.labels(kind, None if kind == "encoder_self" else "reads").queries
    if by_read[place[2]] != queries[place[2]]:
        wrong.append(f"row {place[2]} of {kind} is not named {queries[place[2]]}")
    return wrong
