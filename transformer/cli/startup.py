"""Ctrl-C while a command is loaded, which takes seconds."""

import contextlib
import os
import signal
import sys

INTERRUPTED = 130  # exit status after Ctrl-C


def begin() -> None:
    """End the process on Ctrl-C, without a traceback of imports, until `command.run` takes over."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not in the background
        signal.signal(signal.SIGINT, _stop)


def begin_module() -> None:
    """Begin if Python loads a package to run a module of it, as `python -m` does."""
    if sys.argv[:1] == ["-m"]:
        begin()


def _stop(*_: object) -> None:
    with contextlib.suppress(OSError):
        os.write(2, b"headlight: stopped.\n")
    os._exit(INTERRUPTED)  # nothing is written yet that could be lost
