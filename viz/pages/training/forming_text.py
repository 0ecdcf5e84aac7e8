"""What is said of the steps that a run saved of one sentence: computed from its heads' weights."""

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
    """A measure of every head of one kind, `[layer, head]`."""
    return memo_per_trace(
        trace, ("measure", kind, name), lambda: measure(by_pieces(trace, kind), kind, name)
    )


def roles(trace: AttentionTrace, kind: Kind) -> list[list[str]]:
    """What every head of one kind does most."""
    return memo_per_trace(trace, ("roles", kind), lambda: head_roles(by_pieces(trace, kind), kind))


def forming_said(traces: Mapping[int, AttentionTrace]) -> str:
    """By which step the heads of each kind were halfway, and the first at which one aligns.

    Args:
        traces: of one sentence and model, by step, in order.

    Returns:
        Two sentences; "" of fewer than two steps.
    """
    if len(traces) < 2:
        return ""
    first, *_, last = traces
    rises = "; that ".join(_rise(traces, kind) for kind in KINDS)
    aligned = next((step for step, trace in traces.items() if _aligns(trace)), None)
    if aligned is None:
        said = "No cross head aligns at any step on the slider."
    else:
        said = f"Of the steps on the slider, {aligned:,} is the first at which a cross head aligns."
    return f"From step {first:,} to step {last:,}, the mean confidence {rises}. {said}"


def _rise(traces: Mapping[int, AttentionTrace], kind: Kind) -> str:
    """How far the heads of one kind came, and when they had come half of it."""
    values = {step: float(measured(t, kind, "confidence").mean()) for step, t in traces.items()}
    first, *_, last = values.values()
    heads = measured(next(iter(traces.values())), kind, "confidence").size
    whose = f"of the {counted(heads, f'{SCREEN_NAMES[kind]} head')}"
    start, end = format_number(first), format_number(last)
    if first >= last or start == end:
        return f"{whose} does not rise ({start}, {end})"
    halfway = next(step for step, value in values.items() if value - first >= (last - first) / 2)
    return f"{whose} rises from {start} to {end}, halfway by step {halfway:,}"


def _aligns(trace: AttentionTrace) -> bool:
    """Whether that is what some cross head does most."""
    return any("aligns" in layer for layer in roles(trace, "cross"))
