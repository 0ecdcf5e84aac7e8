"""The runs that the Training page knows: the bundled one, and those in one folder of the server.

Nothing outside of these folders is ever read: a run is chosen from what they hold, and what is a
link to somewhere else is left out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from training.run import journal
from training.run.journal import LOG, RunLogError
from transformer.files.installed import BUNDLED
from viz.pages.training import logs

RUNS_VARIABLE = "HEADLIGHT_RUNS"
"""Environment variable that names the folder of runs; `runs` beside the app unless set."""

BUNDLED_NAME = "bundled"

MAX_RUNS = 200
"""Runs of the server that the menus offer, the newest."""

LIVE_FOR = 600.0
"""Seconds since its last line in which a run counts as going on: a validation writes none for
minutes, and nobody follows a run further once it has counted as ended."""


def known_runs() -> dict[str, Path]:
    """Folders with a log, by name: the bundled one, then the server's own, newest first."""
    return {BUNDLED_NAME: BUNDLED} | _own_runs()


def missing_folder() -> str | None:
    """One sentence where the environment names a folder of runs that is not there."""
    if RUNS_VARIABLE in os.environ and not _is_folder(_runs_folder()):
        return f"{RUNS_VARIABLE} names no folder on this server: the bundled run alone is here."
    return None


def run_at(path: str, runs: Mapping[str, Path]) -> Path | None:
    """The run that an old link names by its path instead of its name; None if it is none of them.

    The path is compared as text: no file is touched for it.
    """
    if path.startswith("~/"):
        path = os.path.expanduser(path)  # noqa: PTH111  # pathlib's raises where there is no home
    wanted = os.path.abspath(path)  # noqa: PTH100  # pathlib's keeps `..`
    at = {os.path.abspath(folder): folder for folder in runs.values()}  # noqa: PTH100
    return at.get(wanted)


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a file lies in a folder once all links on the way are followed."""
    # os.path takes what cannot be looked at, such as too long a name, for what is not there
    is_file = os.path.isfile(path)  # noqa: PTH113
    return is_file and path.resolve().is_relative_to(folder.resolve())


def is_live(folder: Path) -> bool:
    """Whether the run in a folder seems to go on: its log is fresh and not at its end."""
    log = folder / LOG
    try:
        if time.time() - log.stat().st_mtime >= LIVE_FOR:
            return False
        found = logs.load(log)
    except (OSError, RunLogError):
        return False
    # the log of a run that is done is fresh, too, where the folder has just been copied; the last
    # that it writes is the validation of the last step that it planned
    records = found.records
    planned = journal.plan(records).get("steps")
    return not records or "validation_loss" not in records[-1] or records[-1]["step"] != planned


def _runs_folder() -> Path:
    return Path(os.path.expanduser(os.environ.get(RUNS_VARIABLE, "runs")))  # noqa: PTH111


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  # pathlib's raises where the name is too long


def _own_runs() -> dict[str, Path]:
    folder = _runs_folder()
    if not _is_folder(folder):
        return {}
    found = [log for log in folder.glob(f"*/{LOG}") if is_inside(log, folder)]
    newest = sorted(found, key=_changed, reverse=True)[:MAX_RUNS]
    return {f"runs/{_printable(log.parent.name)}": log.parent for log in newest}


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # deleted since it was found
        return 0.0


def _printable(name: str) -> str:
    """The name of a folder, with escapes for bytes that are no text."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
