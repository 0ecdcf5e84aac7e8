"""Preparation of a command before it is loaded: Ctrl-C, as that takes seconds; a home folder."""

import contextlib
import os
import signal
import sys
from pathlib import Path

INTERRUPTED = 130  # exit status after Ctrl-C


def begin() -> None:
    """End the process on Ctrl-C, without a traceback of imports, until `command.run` takes over."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not in the background
        signal.signal(signal.SIGINT, _stop)


def begin_module() -> None:
    """Begin if Python loads a package to run a module of it, as `python -m` does."""
    if sys.argv[:1] == ["-m"]:
        begin()


def require_home() -> None:
    """Name a home folder where there is none: Altair and Streamlit ask for it, and read it."""
    try:
        Path.home()
    except RuntimeError:  # a user without an entry, as in a container
        os.environ["HOME"] = "/nonexistent"  # what can be written by others is not a home


def _stop(*_: object) -> None:
    with contextlib.suppress(OSError):
        os.write(2, b"headlight: stopped.\n")
    os._exit(INTERRUPTED)  # nothing is written yet that could be lost
