"""Chart of the learning rate (§5.3)."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from training import schedule
from training.run import journal
from transformer.arrays import Floats
from viz.figures import axes, forms

HEIGHT = 420  # of the plot without its legend, in CSS pixels
POINTS = 400  # of a curve, about as many as a screen resolves


def peak_rate(d_model: int, warmup: int) -> float:
    """Return the largest rate of equation 3, at step `warmup`: (d_model · warmup)^-0.5."""
    return float((d_model * warmup) ** -0.5)


def format_rate(rate: float) -> str:
    """Format a learning rate as the axis does, such as `6.99e-4`."""
    return re.sub(r"e-0*", "e-", f"{rate:.2e}")


def paper_rate(steps: npt.NDArray[np.int64], d_model: int, warmup: int) -> Floats:
    """Compute equation 3 of §5.3 at each step, counted from 1."""
    return np.array([schedule.learning_rate(int(step), d_model, warmup) for step in steps])


def sample_steps(last: int, *included: int) -> npt.NDArray[np.int64]:
    """Sample the steps from 1 to `last` for a curve, and the `included` ones, such as a peak."""
    even, log = np.linspace(1, last, POINTS), np.geomspace(1, last, POINTS)
    inside = [step for step in included if 1 <= step <= last]
    return np.unique(np.concatenate([even, log, inside]).round().astype(np.int64))


def learning_rates(
    pairs: Mapping[str, tuple[int, int]], last: int, logs: Mapping[str, Path]
) -> dict[str, tuple[list[int], list[float]]]:
    """Compute the curves of d_model and warmup, and read those of the logs of runs, by name."""
    curves = {}
    for name, (d_model, warmup) in pairs.items():
        steps = sample_steps(last, warmup)
        curves[name] = steps.tolist(), paper_rate(steps, d_model, warmup).tolist()
    for name, path in logs.items():
        run = [record for record in journal.read(path) if "lr" in record]
        curves[name] = (
            [int(record["step"]) for record in run],
            [float(record["lr"]) for record in run],
        )
    return curves


def visible_peaks(pairs: Mapping[str, tuple[int, int]], last: int) -> dict[str, tuple[int, float]]:
    """Return step and rate of each peak up to the last step, by the name of its curve."""
    return {
        name: (warmup, peak_rate(d_model, warmup))
        for name, (d_model, warmup) in pairs.items()
        if warmup <= last
    }


def schedule_chart(
    curves: Mapping[str, tuple[Sequence[int] | npt.NDArray, Sequence[float] | npt.NDArray]],
    peaks: Mapping[str, tuple[int, float]],
    *,
    log: bool = False,
) -> alt.LayerChart:
    """Draw curves of a learning rate, steps from 1 and rates by name, with their peaks marked."""
    height = HEIGHT + 28 * len(curves)  # a line of the legend for each curve
    frame = pd.concat(
        pd.DataFrame({"curve": name, "step": steps, "rate": rates})
        for name, (steps, rates) in curves.items()
    )
    if log:
        frame = frame[frame["rate"] > 0]  # 0 has no logarithm
    scale = rate_scale = alt.Scale(zero=True)
    ticks: Any = alt.Undefined  # Vega chooses
    across: dict[str, Any] = {}
    if log:
        # a rate that falls to 0 has no lower end: four decades are drawn
        top = math.ceil(math.log10(frame["rate"].max()))
        ticks = [10.0**n for n in range(top - 4, top + 1)]
        scale = alt.Scale(type="log", nice=False)
        rate_scale = alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False)
        steps = axes.log_ticks(frame["step"])
        if steps is not alt.Undefined:
            # without the count, Vega would drop every second of so many values
            across = {"values": steps, "tickCount": len(steps)}
            across["labelExpr"] = axes.log_labels(steps)
    color = axes.curve_color("curve", list(curves))
    x = axes.step_axis(scale, **across)
    axis = alt.Axis(tickCount=5, labelExpr=axes.tick_label("~e"), values=ticks)
    y = alt.Y("rate:Q", title="learning rate", scale=rate_scale, axis=axis)
    tooltip = forms.tips("curve", step=("", ","), rate=("", ".4e"))
    line = alt.Chart(frame, height=height).mark_line(strokeWidth=2, clip=True)
    lines = line.encode(x, y, color, tooltip=tooltip)
    tops = pd.DataFrame(
        [(name, *peak) for name, peak in peaks.items()], columns=["curve", "step", "rate"]
    )
    dots = forms.points(tops, x, y, color, size=70, tooltip=tooltip)
    return lines + dots
