"""The attention that a run saved of a few sentences, step after step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from training.runlog import MAX_STEP
from transformer import KINDS, AttentionTrace, CheckpointError
from viz.app.memory import memo, state_of_file
from viz.app.problems import without_paths
from viz.pages.training.runs import is_inside

Probes: TypeAlias = dict[int, Path]
"""The files of one sentence by step, in order."""

MAX_FILES = 3_000
"""Of a run: a thousand steps of three sentences."""

MAX_BYTES = 4 * 2**20
"""Of one file, unpacked: a base model's weights on a sentence of forty pieces have 2.8 MB."""

MAX_TOGETHER = 256 * 2**20
"""Bytes of all steps of one sentence, unpacked."""

MAX_HEADS = 64
"""Layers of a model, and heads of a layer, that are drawn."""

MOST = 1.01
"""Sum of the weights of a query, with what bfloat16 rounds."""

_NAME = re.compile(r"step-(\d{1,13})-sentence-(\d{1,2})\.npz", re.ASCII)


def find(run: Path) -> list[Probes]:
    """What a run's folder holds: for each sentence its files; empty where it saved nothing.

    Raises:
        CheckpointError: if it holds more files than the page reads.
    """
    found: dict[int, Probes] = {}
    names = sorted(run.glob("probes/step-*-sentence-*.npz"))
    if len(names) > MAX_FILES:
        raise CheckpointError(
            f"The folder probes of {run.name} holds {len(names):,} files, and up to "
            f"{MAX_FILES:,} are read: keep fewer of its steps."
        )
    for path in names:
        name = _NAME.fullmatch(path.name)
        if name and 1 <= int(name[1]) <= MAX_STEP and is_inside(path, run):
            found.setdefault(int(name[2]), {})[int(name[1])] = path
    return [dict(sorted(found[sentence].items())) for sentence in sorted(found)]


def load(path: Path) -> AttentionTrace:
    """One file, read once as long as it does not change.

    Raises:
        CheckpointError: if it is no trace, larger than the page reads, or holds what no head's
            weights can be.
    """
    return memo(("probe", path, state_of_file(path)), lambda: _read(path))


def load_all(probes: Probes) -> tuple[dict[int, AttentionTrace], list[str]]:
    """The traces of one sentence by step, and a sentence on each file that cannot be drawn.

    A file that is no trace, or one of another sentence or model than the step before, is left out.

    Raises:
        CheckpointError: if all files together are larger than the page reads.
    """
    traces: dict[int, AttentionTrace] = {}
    wrong: list[str] = []
    together = 0
    for step, path in probes.items():
        try:
            trace = load(path)
        except CheckpointError as error:
            wrong.append(without_paths(error))
            continue
        first = next(iter(traces.values()), trace)
        if _subject(trace) != _subject(first):
            wrong.append(
                f"{path.name} is of another sentence or another model than the steps before it: "
                f"remove it from the folder probes."
            )
            continue
        together += sum(trace.weights(kind).nbytes for kind in KINDS)
        if together > MAX_TOGETHER:
            raise CheckpointError(
                f"The attention saved of this sentence has more than {MAX_TOGETHER:,} bytes up to "
                f"step {step:,}: keep fewer of its steps."
            )
        traces[step] = trace
    return traces, wrong


def nearest(steps: Sequence[int], wanted: int) -> int:
    """The one of some steps that is nearest to a step of another run."""
    return min(steps, key=lambda step: abs(step - wanted))


def _read(path: Path) -> AttentionTrace:
    trace = AttentionTrace.load(path, max_bytes=MAX_BYTES)
    if len({trace.weights(kind).shape[:2] for kind in KINDS}) > 1 or trace.head_counts:
        raise CheckpointError(
            f"{path.name} is no probe of a run: those of a model that is trained here have as many "
            f"layers and heads of each kind of attention."
        )
    for kind in KINDS:
        weights = trace.weights(kind)
        if max(weights.shape[:2]) > MAX_HEADS:
            raise CheckpointError(
                f"{path.name} has {weights.shape[0]:,} layers of {weights.shape[1]:,} heads, and "
                f"up to {MAX_HEADS} are drawn."
            )
        if weights.min() < 0 or weights.sum(-1).max() > MOST:
            raise CheckpointError(
                f"{path.name} holds no attention of a model: weights lie from 0 to 1, and those of "
                f"a query sum to 1."
            )
    return trace


def _subject(trace: AttentionTrace) -> object:
    return trace.source, trace.source_pieces, trace.target_pieces, trace.cross.shape
