"""How many steps of a run fit into the time that its part of the plan has."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from training.config import RunConfig
from training.pipeline.parts import written_config
from training.runlog import Record
from transformer.atomic import write_file

SHARE_MEASURED = 0.08
"""Of a part's time, on whose steps its speed is measured, the first line of the log aside."""
RESTART, RESTART_SHARE = 40.0, 0.15
"""Seconds, or of a short part the share of its time, until a shortened run computes again.

Assumed, not measured: to stop, for imports, the text, the device, and for layers that are compiled
from the compiler's cache.
"""
SHARE_OF_STEPS = 0.85
"""Of what is left, for steps; the rest is for validations, checkpoints and their average, none of
which the log counts among its seconds."""


def fitting_steps(records: Sequence[Record], seconds: float, passed: float) -> int | None:
    """The steps after which a run ends in time.

    Args:
        records: of its log.
        seconds: that the part has.
        passed: of these, until now.

    Returns:
        Steps; None while too little was logged to tell.
    """
    logged = [(int(r["step"]), float(r["seconds"])) for r in records if "loss" in r]
    if len(logged) < 2:
        return None
    # the first line holds what is done once: compilation, memory
    (first, then), (last, now) = logged[0], logged[-1]
    if now - then < SHARE_MEASURED * seconds or last == first:
        return None
    per_second = (last - first) / (now - then)
    left = seconds - passed - min(RESTART, RESTART_SHARE * seconds)
    return last + int(max(0.0, left) * SHARE_OF_STEPS * per_second)


def shorten(path: Path, steps: int) -> bool:
    """Write so many steps into a run's configuration, if it has more, and shorten its cooldown.

    Returns:
        Whether it has changed.
    """
    config = RunConfig.load(path)
    recipe = config.recipe
    if recipe.steps <= steps:
        return False
    cooldown = round(recipe.cooldown * steps / recipe.steps)
    recipe = dataclasses.replace(recipe, steps=steps, cooldown=cooldown)
    write_file(path, written_config(dataclasses.replace(config, recipe=recipe)))
    return True
