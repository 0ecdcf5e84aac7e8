"""Findings on training: where the learning rate peaks, and when the heads of a run formed."""

from collections.abc import Mapping
from itertools import pairwise

from viz.draw import formatting, labels
from viz.figures.schedule import format_rate, peak_rate
from viz.findings.weights import Finding


def peak(d_model: int, warmup: int) -> Finding:
    """Find the largest learning rate of equation 3, and its step."""
    rate = peak_rate(d_model, warmup)
    return Finding(
        f"With d_model {d_model}, the learning rate peaks at step {warmup:,}, at "
        f"{format_rate(rate)}.",
        strength=0.5,
        page="schedule",
        choices={"pairs": f"{d_model} · {warmup}", "steps": str(min(10 * warmup, 1_000_000))},
    )


def largest_rise(confidence: Mapping[int, float]) -> tuple[int, int] | None:
    """Find two consecutive saved steps between which confidence rises most, if that is seen."""
    rises = {(a, b): confidence[b] - confidence[a] for a, b in pairwise(confidence)}
    steps = max(rises, key=rises.__getitem__, default=None)
    return steps if steps and rises[steps] >= formatting.SEEN else None


def heads_form(confidence: Mapping[int, float], choices: Mapping[str, str]) -> Finding | None:
    """Find when the heads of cross-attention formed; see `largest_rise`."""
    steps = largest_rise(confidence)
    if steps is None:
        return None
    before, after = (formatting.format_number(confidence[step]) for step in steps)
    first, second = (f"{step:,}" for step in steps)
    return Finding(
        f"From one saved step to the next, cross-attention sharpens most between steps {first} and "
        f"{second}: mean confidence {before} → {after}.",
        strength=0.5,
        page="training",
        choices={
            **choices,
            "kind": labels.SCREEN_NAMES["cross"],
            "measure": "confidence",
            "trained": str(steps[1]),
        },
    )
