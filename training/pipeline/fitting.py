"""How many steps of a run fit into the time that its part of the plan has."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from training import runlog
from training.config import RunConfig
from training.pipeline.parts import written_config
from training.runlog import Record
from training.schedule import shortened_cooldown
from transformer.atomic import write_file

SHARE_MEASURED = 0.08
"""Of a part's time, on whose steps its speed is measured, the first line of a process aside."""
RESTART, RESTART_SHARE = 40.0, 0.15
"""Seconds, or of a short part the share of its time, until a shortened run computes again.

Assumed, not measured: to stop, for imports, the text, the device, and for layers that are compiled
from the compiler's cache.
"""
SHARE_OF_STEPS = 0.85
"""Of what is left, for steps; the rest is for validations, checkpoints and their average, none of
which the log counts among its seconds."""


def fitting_steps(
    records: Sequence[Record], seconds: float, passed: float, after: int = 0
) -> int | None:
    """The steps after which a run ends in time.

    Args:
        records: of its log, which says the steps that it is to make.
        seconds: that the part has.
        passed: of these, until now.
        after: the last step that was logged when the run began or went on.

    Returns:
        Steps, no more than it is to make; None while too little was logged to tell.
    """
    all_logged = [(int(r["step"]), float(r["seconds"])) for r in records if "loss" in r]
    logged = [(step, at) for step, at in all_logged if step > after]
    if len(logged) < 2:
        return None
    # the first line holds what is done once in a process: compilation, memory
    (first, then), (last, now) = logged[0], logged[-1]
    if now - then < SHARE_MEASURED * seconds or last == first:
        return None
    per_second = SHARE_OF_STEPS * (last - first) / (now - then)
    left = seconds - passed
    planned = int(runlog.plan(records)["steps"])
    if last + left * per_second >= planned:
        return planned
    left -= min(RESTART, RESTART_SHARE * seconds)  # for it is stopped to be shortened
    return last + int(max(0.0, left) * per_second)


def shorten(path: Path, steps: int) -> bool:
    """Write so many steps into a run's configuration, if it has more, and shorten its cooldown.

    Returns:
        Whether it has changed.
    """
    config = RunConfig.load(path)
    recipe = config.recipe
    if recipe.steps <= steps:
        return False
    cooldown = shortened_cooldown(recipe.cooldown, recipe.steps, steps)
    recipe = dataclasses.replace(recipe, steps=steps, cooldown=cooldown)
    write_file(path, written_config(dataclasses.replace(config, recipe=recipe)))
    return True
