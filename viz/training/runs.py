"""The runs that the Training page knows: the bundled ones and those beside the app."""

from __future__ import annotations

import time
from pathlib import Path

from transformer.translator import BUNDLED

BUNDLED_NAME = "bundled"
FORMING = Path(__file__).parents[2] / "assets" / "forming"
"""A run from its first step, with the attention that it kept on the way."""

LIVE_FOR = 120.0
"""Seconds since its last line in which a run counts as going on."""


def logged() -> dict[str, Path]:
    """Folders with a log, by name: the bundled run, then those beside the app, newest first."""
    return {BUNDLED_NAME: BUNDLED} | _beside()


def watched() -> dict[str, Path]:
    """Folders that may hold attention kept while training, by name, in the same order."""
    return {BUNDLED_NAME: FORMING} | _beside()


def is_live(folder: Path) -> bool:
    """Whether the run in a folder seems to go on."""
    log = folder / "run.jsonl"
    return log.exists() and time.time() - log.stat().st_mtime < LIVE_FOR


def _beside() -> dict[str, Path]:
    logs = sorted(Path("runs").glob("*/run.jsonl"), key=lambda p: -p.stat().st_mtime)
    return {f"runs/{log.parent.name}": log.parent for log in logs}
