"""Sentences on the attention that a run saved for one sentence, computed from its weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from transformer import KINDS, AttentionTrace, Kind
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.measures import measure
from transformer.analysis.heads.roles import head_roles
from viz.app.cache.memory import memo_per_trace
from viz.draw.formatting import counted, format_number
from viz.draw.labels import SCREEN_NAMES


def measured(trace: AttentionTrace, kind: Kind, name: str) -> NDArray[np.float64]:
    """Compute a measure of every head of one kind, `[layer, head]`, cached for each trace."""
    return memo_per_trace(
        trace, ("measure", kind, name), lambda: measure(by_pieces(trace, kind), kind, name)
    )


def roles(trace: AttentionTrace, kind: Kind) -> list[list[str]]:
    """Find the role of every head of one kind."""
    return memo_per_trace(trace, ("roles", kind), lambda: head_roles(by_pieces(trace, kind), kind))


def describe_forming(traces: Mapping[int, AttentionTrace]) -> str:
    """Name the step of half the rise of each kind's confidence, and the first aligning head's.

    Args:
        traces: traces of one sentence and model, by step, in order.

    Returns:
        Two sentences; "" for fewer than two steps.
    """
    if len(traces) < 2:
        return ""
    first, *_, last = traces
    rises = "; that ".join(_rise(traces, kind) for kind in KINDS)
    aligned = next((step for step, trace in traces.items() if _aligns(trace)), None)
    if aligned is None:
        alignment = "No cross head aligns at any step on the slider."
    else:
        alignment = (
            f"Of the steps on the slider, {aligned:,} is the first at which a cross head aligns."
        )
    return f"From step {first:,} to step {last:,}, the mean confidence {rises}. {alignment}"


def _rise(traces: Mapping[int, AttentionTrace], kind: Kind) -> str:
    """Describe the rise of one kind's confidence, and its middle."""
    values = {step: float(measured(t, kind, "confidence").mean()) for step, t in traces.items()}
    first, *_, last = values.values()
    heads = measured(next(iter(traces.values())), kind, "confidence").size
    heads_text = f"of the {counted(heads, f'{SCREEN_NAMES[kind]} head')}"
    start, end = format_number(first), format_number(last)
    if first >= last or start == end:
        return f"{heads_text} does not rise ({start}, {end})"
    halfway = next(step for step, value in values.items() if value - first >= (last - first) / 2)
    return f"{heads_text} rises from {start} to {end}, halfway by step {halfway:,}"


def _aligns(trace: AttentionTrace) -> bool:
    """Return whether some cross head aligns."""
    return any("aligns" in layer for layer in roles(trace, "cross"))
