"""The attention that a run saved of a few sentences, step after step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from transformer import AttentionTrace
from viz.app.memory import memo
from viz.pages.training.runs import is_inside

Probes: TypeAlias = dict[int, Path]
"""The files of one sentence by step, in order."""

_NAME = re.compile(r"step-(\d+)-sentence-(\d+)\.npz")


def find(run: Path) -> list[Probes]:
    """What a run's folder holds: for each sentence its files; empty where it saved nothing."""
    found: dict[int, Probes] = {}
    for path in sorted(run.glob("probes/step-*-sentence-*.npz")):
        if (name := _NAME.fullmatch(path.name)) and is_inside(path, run):
            step, sentence = map(int, name.groups())
            found.setdefault(sentence, {})[step] = path
    return [dict(sorted(found[sentence].items())) for sentence in sorted(found)]


def load(path: Path) -> AttentionTrace:
    """One file, read once as long as it does not change.

    Raises:
        CheckpointError: if it is no trace.
    """
    changed = path.stat().st_mtime_ns if path.exists() else 0
    return memo(("probe", path, changed), lambda: AttentionTrace.load(path))


def nearest(steps: Sequence[int], wanted: int) -> int:
    """The one of some steps that is nearest to a step of another run."""
    return min(steps, key=lambda step: abs(step - wanted))
