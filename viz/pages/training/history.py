"""The runs that the bundled weights went through, one after the other, as one line of steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from training.runlog import Log, Record
from transformer.files import ASSETS, BUNDLED
from viz.pages.training import logs

HISTORY = ASSETS / "history"


@dataclass(frozen=True)
class Part:
    """One run, as far as the next one goes on from its weights.

    Args:
        steps: up to the weights that the next run started from.
        lr_factor: on the rate of equation 3.
        log: None where it was not kept.
    """

    steps: int
    lr_factor: float
    log: Path | None


PARTS = (
    Part(14_000, 2, HISTORY / "first.jsonl"),
    Part(6_300, 0.8, HISTORY / "second.jsonl"),
    Part(14_400, 1, HISTORY / "third.jsonl"),
    Part(9_500, 0.8, None),
    Part(3_400, 0.15, BUNDLED / "run.jsonl"),
)
"""As the model card tells it."""

STEPS = sum(part.steps for part in PARTS)

_FACTORS = [f"{part.lr_factor:g}" for part in PARTS]
SENTENCE = (
    f"{STEPS:,} steps in five runs, each from the weights that the one before gave, in nearly "
    "8 hours on two cores. A vertical line marks where a run begins; the log of the fourth was not "
    "kept, so its steps are empty."
)
RATE = (
    "In the bundled runs the rate of equation 3 is multiplied by "
    f"{', '.join(_FACTORS[:-1])} and {_FACTORS[-1]} and falls to 0 towards the end of a run, which "
    "is not in the paper; the second and the third were ended sooner than planned, so there the "
    "rate falls below the plan."
)


def load() -> Log:
    """The records of all runs, each with the `start` of its run.

    Raises:
        RunLogError: if a log cannot be read.
    """
    records: list[Record] = []
    start = 0
    for part in PARTS:
        found = logs.load(part.log).records if part.log else ({"step": 0},)
        records += [{**record, "start": start} for record in found]
        start += part.steps
    return Log(tuple(records), {})
