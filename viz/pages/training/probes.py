"""Files of attention that a run saved for a few sentences, step by step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from training.run.journal import MAX_STEP
from transformer import KINDS, AttentionTrace, CheckpointError
from viz.app.cache.memory import memo, state_of_file
from viz.app.chrome.problems import without_paths
from viz.pages.training.runs import is_inside

Probes: TypeAlias = dict[int, Path]
"""Files of one sentence by step, in order."""

MAX_FILES = 3_000
"""Largest number of files of a run: a thousand steps of three sentences."""

MAX_BYTES = 4 * 2**20
"""Largest unpacked file; a base model's weights on forty pieces have 2.8 MB."""

MAX_TOTAL_BYTES = 256 * 2**20
"""Largest unpacked size of all steps of one sentence, in bytes."""

MAX_HEADS = 64
"""Largest number of layers, and of heads of a layer."""

LARGEST_SUM = 1.01
"""Largest sum of the weights of a query, with the rounding of bfloat16."""

_NAME = re.compile(r"step-(\d{1,13})-sentence-(\d{1,2})\.npz", re.ASCII)


def find(run: Path) -> list[Probes]:
    """List the files of each sentence in a run's folder; empty where it saved nothing.

    Raises:
        CheckpointError: if it holds more files than the page reads.
    """
    probes: dict[int, Probes] = {}
    names = sorted(run.glob("probes/step-*-sentence-*.npz"))
    if len(names) > MAX_FILES:
        raise CheckpointError(
            f"The folder probes of {run.name} holds {len(names):,} files, and up to "
            f"{MAX_FILES:,} are read: keep fewer of its steps."
        )
    for path in names:
        name = _NAME.fullmatch(path.name)
        if name and 1 <= int(name[1]) <= MAX_STEP and is_inside(path, run):
            probes.setdefault(int(name[2]), {})[int(name[1])] = path
    return [dict(sorted(probes[sentence].items())) for sentence in sorted(probes)]


def load(path: Path) -> AttentionTrace:
    """Read one file, from the cache until it changes.

    Raises:
        CheckpointError: if it is not a trace, is too large, or holds invalid weights.
    """
    return memo(("probe", path, state_of_file(path)), lambda: _read(path))


def load_all(probes: Probes) -> tuple[dict[int, AttentionTrace], list[str]]:
    """Read the traces of one sentence by step, and a message on each file that is left out.

    A file is left out if it is not a trace, or of another sentence or model than the step before.

    Raises:
        CheckpointError: if all files together are larger than the page reads.
    """
    traces: dict[int, AttentionTrace] = {}
    problems: list[str] = []
    size = 0
    for step, path in probes.items():
        try:
            trace = load(path)
        except CheckpointError as error:
            problems.append(without_paths(error))
            continue
        first = next(iter(traces.values()), trace)
        if _subject(trace) != _subject(first):
            problems.append(
                f"{path.name} is of another sentence or another model than the steps before it: "
                f"remove it from the folder probes."
            )
            continue
        size += sum(trace.weights(kind).nbytes for kind in KINDS)
        if size > MAX_TOTAL_BYTES:
            raise CheckpointError(
                f"The attention saved of this sentence has more than {MAX_TOTAL_BYTES:,} bytes up "
                f"to step {step:,}: keep fewer of its steps."
            )
        traces[step] = trace
    return traces, problems


def nearest(steps: Sequence[int], requested: int) -> int:
    """Return the step nearest to a step of another run."""
    return min(steps, key=lambda step: abs(step - requested))


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
        if weights.min() < 0 or weights.sum(-1).max() > LARGEST_SUM:
            raise CheckpointError(
                f"{path.name} holds no attention of a model: weights lie from 0 to 1, and those of "
                f"a query sum to 1."
            )
    return trace


def _subject(trace: AttentionTrace) -> object:
    return trace.source, trace.source_pieces, trace.target_pieces, trace.cross.shape
