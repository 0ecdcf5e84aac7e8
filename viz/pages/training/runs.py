"""The runs of the Training page: the bundled one, and those in one folder of the server.

No file outside of these folders is ever read: a run is chosen from their contents, and links that
lead elsewhere are left out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from training.run import journal
from training.run.journal import LOG, Log, RunLogError, read_foreign
from transformer.files.installed import BUNDLED
from viz.app.cache.memory import memo, state_of_file
from viz.draw.labels import quoted

RUNS_VARIABLE = "HEADLIGHT_RUNS"
"""Environment variable that names the folder of runs; `runs` beside the app unless set."""

BUNDLED_NAME = "bundled"

MAX_RUNS = 200
"""Largest number of the server's runs in the menus, newest first."""

LIVE_SECONDS = 600.0
"""Seconds after the last line of its log for which a run counts as live: a validation writes no
line for minutes, and a run that counted as ended is not followed any more."""


def known_runs() -> dict[str, Path]:
    """List folders with a log by name: the bundled one, then the server's own, newest first."""
    return {BUNDLED_NAME: BUNDLED} | _own_runs()


def missing_folder() -> str | None:
    """Return a message if the environment names a folder of runs that does not exist."""
    if RUNS_VARIABLE in os.environ and not _is_folder(_runs_folder()):
        return f"{RUNS_VARIABLE} names no folder on this server: the bundled run alone is here."
    return None


def run_at(path: str, runs: Mapping[str, Path]) -> Path | None:
    """Find the run that an old link names by its path; None if it is not among the known ones.

    The path is compared as text: no file is accessed.
    """
    if path.startswith("~/"):
        path = os.path.expanduser(path)  # noqa: PTH111  # pathlib's raises where there is no home
    absolute = os.path.abspath(path)  # noqa: PTH100  # pathlib's keeps `..`
    by_path = {os.path.abspath(folder): folder for folder in runs.values()}  # noqa: PTH100
    return by_path.get(absolute)


def is_inside(path: Path, folder: Path) -> bool:
    """Return whether a file lies in a folder after all links are resolved."""
    # os.path returns False for an inaccessible path, such as too long a name
    is_file = os.path.isfile(path)  # noqa: PTH113
    return is_file and path.resolve().is_relative_to(folder.resolve())


def is_live(folder: Path) -> bool:
    """Return whether the run in a folder seems to continue: a recent log without its end."""
    log = folder / LOG
    try:
        if time.time() - log.stat().st_mtime >= LIVE_SECONDS:
            return False
        records = load_log(log).records
    except (OSError, RunLogError):
        return False
    # a copied folder has a recent log, too; the last record of an ended run is the validation of
    # its last planned step
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
    contained = [log for log in folder.glob(f"*/{LOG}") if is_inside(log, folder)]
    newest = sorted(contained, key=_changed, reverse=True)[:MAX_RUNS]
    return {f"runs/{_printable(log.parent.name)}": log.parent for log in newest}


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # deleted in the meantime
        return 0.0


def _printable(name: str) -> str:
    """Return the name of a folder, with escapes for bytes that are not UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


MAX_BYTES, MAX_LINES = 16 * 2**20, 50_000
"""Largest log that the page reads: 2.5 million steps with every fiftieth logged."""


def load_log(path: Path) -> Log:
    """Read the records of one log, and the problems of its other lines.

    Raises:
        RunLogError: if the file cannot be read, or is larger than the page reads.
    """
    return memo(
        ("run log", path, state_of_file(path)),
        lambda: read_foreign(path, max_bytes=MAX_BYTES, max_lines=MAX_LINES),
    )


def log_problem(name: str, log: Log) -> str | None:
    """Describe the invalid lines of a run's log; None without any."""
    if not log.wrong:
        return None
    number, reason = next(iter(log.wrong.items()))
    others = len(log.wrong) - 1
    plural = f", and neither {'is' if others == 1 else 'are'} {others:,} more" if others else ""
    rest = "the other lines are drawn" if log.records else "nothing of it can be drawn"
    return f"{name}: line {number:,} of run.jsonl is no record of a run ({reason}){plural}; {rest}."


RUNS_HELP = (
    "The bundled run, and those in the folder runs beside the app or in HEADLIGHT_RUNS, the "
    f"newest {MAX_RUNS}."
)

_UNKNOWN = "training.unknown_runs"


def offered_runs(name: str, runs: Mapping[str, Path]) -> dict[str, Path]:
    """Return the runs of the menu `name` in the URL, with those that an old link names by path."""
    requested = st.query_params.get_all(name)
    by_path = {path: run_at(path, runs) for path in requested if path not in runs}
    if unknown := [path for path, run in by_path.items() if run is None]:
        # the menu removes them from the URL; the message stays until another run is chosen
        st.session_state[_UNKNOWN] = name, unknown
    return {**runs, **{path: run for path, run in by_path.items() if run is not None}}


def forget_unknown() -> None:
    """Remove the message on unknown runs, when another run is chosen."""
    st.session_state.pop(_UNKNOWN, None)


def report_missing(name: str) -> None:
    """Name the runs of a link that the server does not have."""
    if problem := missing_folder():
        st.text(problem)
    menu, unknown = st.session_state.get(_UNKNOWN, (name, []))
    for run in unknown if menu == name else []:
        st.text(f"{quoted(run)} is no run of this server: choose one from the menu.")
