"""The attention that a run kept of a few sentences, step after step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import streamlit as st

from transformer import AttentionTrace

Kept: TypeAlias = dict[int, Path]
"""Files by step, in order."""

_NAME = re.compile(r"step-(\d+)-sentence-(\d+)\.npz")


def find(run: Path) -> list[Kept]:
    """What a run's folder holds: for each sentence its files; empty where it kept nothing."""
    found: dict[int, Kept] = {}
    for path in sorted(run.glob("probes/step-*-sentence-*.npz")):
        if name := _NAME.fullmatch(path.name):
            step, sentence = map(int, name.groups())
            found.setdefault(sentence, {})[step] = path
    return [dict(sorted(found[sentence].items())) for sentence in sorted(found)]


def load(path: Path) -> AttentionTrace:
    """One file, read once as long as it does not change.

    Raises:
        CheckpointError: if it is no trace.
    """
    return _load(str(path), path.stat().st_mtime_ns if path.exists() else 0)


@st.cache_resource(show_spinner=False, max_entries=256)
def _load(path: str, changed: int) -> AttentionTrace:  # noqa: ARG001  # when, in the cache's key
    return AttentionTrace.load(path)


def nearest(steps: Sequence[int], wanted: int) -> int:
    """The one of some steps that is nearest to a step of another run."""
    return min(steps, key=lambda step: abs(step - wanted))
