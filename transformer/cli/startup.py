"""Start and end of a command's process, while there is nothing to clean up."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import NoReturn

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def begin() -> None:
    """End the process at once on Ctrl-C, until `command.run` takes the signal to clean up.

    A KeyboardInterrupt in the middle of an import is a long traceback, or is swallowed.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not in the background
        signal.signal(signal.SIGINT, _stop)


def begin_module() -> None:
    """Begin if Python loads a package to run a module of it, as `python -m` does."""
    if sys.argv[:1] == ["-m"]:
        begin()


def end(status: object) -> NoReturn:
    """Leave at once: threads that still load a model would delay an ordinary end, or abort it."""
    with contextlib.suppress(OSError, AttributeError):  # full, or closed from the start
        sys.stdout.flush()
    os._exit(status if isinstance(status, int) else 0)


def _stop(*_: object) -> None:
    with contextlib.suppress(OSError):
        os.write(2, b"headlight: stopped.\n")
    end(INTERRUPTED)
