"""Running of a command: an error is one sentence on standard error, and an exit status."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

from transformer.errors import HeadlightError, InputError, one_line, unwritable
from transformer.files.atomic import write_file

REFUSED, INTERRUPTED = 2, 130
"""Exit statuses: something is wrong with what was asked; Ctrl-C."""


def run(name: str, body: Callable[[], int | None]) -> int:
    """Run the body of a command and return its exit status; each sentence begins with the name.

    Text is written as UTF-8 whatever the locale says, and the bytes of a path as they are.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        status = body() or 0
        if sys.stdout is not None:
            sys.stdout.flush()  # at exit it would be too late for a sentence
    except HeadlightError as error:
        say(f"{name}: {error}")
        return REFUSED
    except BrokenPipeError:
        _discard_output()  # the reader has what it wanted
        return 0
    except OSError as error:
        _discard_output()
        say(f"{name}: {unwritable(error, 'Standard output')}")
        return REFUSED
    except KeyboardInterrupt:
        say(f"{name}: stopped.")
        return INTERRUPTED
    return status


def say(sentence: str) -> None:
    """Print one line to standard error, if there is one."""
    if sys.stderr is not None:
        print(one_line(sentence), file=sys.stderr)


def save(path: Path, text: str) -> None:
    """Write the text of a command to a file; a character that is none, such as half an emoji, as ?.

    Raises:
        InputError: if it cannot be written.
    """
    try:
        write_file(path, text.encode("utf-8", errors="replace"))
    except OSError as error:
        raise InputError(unwritable(error, path)) from error


def _discard_output() -> None:
    """Redirect standard output to the null device: the flush at exit would fail again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
