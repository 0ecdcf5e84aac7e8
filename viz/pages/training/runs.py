"""The runs that the Training page knows: the bundled ones and those beside the app."""

from __future__ import annotations

import time
from pathlib import Path

from training import runlog
from transformer.files import ASSETS
from transformer.translator import BUNDLED

BUNDLED_NAME, SMALL_NAME = "bundled", "small, bundled"
FORMING = ASSETS / "forming"
"""The small one: a run from its first step, with the attention that it kept on the way."""

LIVE_FOR = 120.0
"""Seconds since its last line in which a run counts as going on."""


def logged() -> dict[str, Path]:
    """Folders with a log, by name: the bundled ones, then those beside the app, newest first."""
    return {BUNDLED_NAME: BUNDLED} | watched()


def watched() -> dict[str, Path]:
    """Folders that may hold attention kept while training, by name, in the same order."""
    return {SMALL_NAME: FORMING} | _beside()


def is_live(folder: Path) -> bool:
    """Whether the run in a folder seems to go on: its log is fresh and not at its end."""
    log = folder / "run.jsonl"
    if not log.exists() or time.time() - log.stat().st_mtime >= LIVE_FOR:
        return False
    try:
        records = runlog.read(log)
    except (OSError, ValueError):
        return False
    # the log of a run that is done is fresh, too, where the folder has just been copied; the last
    # that it writes is the validation of the last step that it planned
    planned = runlog.plan(records).get("steps")
    return not records or "validation_loss" not in records[-1] or records[-1]["step"] != planned


def _beside() -> dict[str, Path]:
    logs = sorted(Path("runs").glob("*/run.jsonl"), key=lambda p: -p.stat().st_mtime)
    return {f"runs/{log.parent.name}": log.parent for log in logs}
