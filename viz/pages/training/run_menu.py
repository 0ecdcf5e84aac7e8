"""Menus of runs: runs that a link names, or names by path, and messages on unknown ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from viz.draw.labels import quoted
from viz.pages.training.runs import MAX_RUNS, missing_folder, run_at

HELP = (
    "The bundled run, and those in the folder runs beside the app or in HEADLIGHT_RUNS, the "
    f"newest {MAX_RUNS}."
)

_UNKNOWN = "training.unknown_runs"


def offered(name: str, runs: Mapping[str, Path]) -> dict[str, Path]:
    """Return the runs of a menu, with those that an old link names by path.

    Args:
        name: name of the menu in the URL.
        runs: runs by their names in the menu.
    """
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
    """Name the runs of a link that the server does not have.

    Args:
        name: name of the menu in the URL.
    """
    if problem := missing_folder():
        st.text(problem)
    menu, unknown = st.session_state.get(_UNKNOWN, (name, []))
    for run in unknown if menu == name else []:
        st.text(f"{quoted(run)} is no run of this server: choose one from the menu.")
