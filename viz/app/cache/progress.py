"""A progress bar for work that takes long."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import streamlit as st

from viz.app.streamlit_internals import end_if_unwanted

PATIENCE = 0.5
"""Seconds before the bar is drawn: a flash of it would be of no use."""


class Report(Protocol):
    """Takes how far the work is, of how much, and what it does now, if the bar is to say so."""

    def __call__(self, done: int, total: int, now: str = "", /) -> None: ...


@contextmanager
def progress_bar(text: str) -> Iterator[Report]:
    """Yield a function that reports progress; it ends the work when nobody waits for it.

    `text` stands beside the bar and is never user input.
    """
    container, began = st.empty(), time.monotonic()

    def report(done: int, total: int, now: str = "", /) -> None:
        end_if_unwanted()
        if time.monotonic() - began > PATIENCE:
            container.progress(done / total, f"{text}: {now}" if now else text)

    try:
        yield report
    except Exception:  # not Streamlit's, which is none: a run that it ends draws nothing more
        container.empty()
        raise
    container.empty()
