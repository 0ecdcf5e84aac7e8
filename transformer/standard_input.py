"""The lines of standard input, and how far they have come."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from transformer.errors import InputError, unreadable

SECONDS_BETWEEN = 0.2
"""Of what the progress says."""


def lines(most_letters: int) -> Iterator[str]:
    """The lines of standard input, cut at line feeds alone.

    A byte that is no UTF-8 becomes a surrogate, which the translator refuses; of a line that is too
    long there is as much as it takes to be refused.

    Raises:
        InputError: if standard input is closed, or cannot be read.
    """
    if sys.stdin is None:
        raise InputError("Standard input is closed: give a text, or lines on standard input.")
    most_bytes = 4 * (most_letters + 1)
    try:
        while line := sys.stdin.buffer.readline(most_bytes):
            end = line
            while not end.endswith(b"\n") and (end := sys.stdin.buffer.readline(most_bytes)):
                pass  # too long: to its end
            yield line.decode("utf-8", errors="surrogateescape").rstrip("\r\n")
    except OSError as error:
        raise InputError(unreadable(error, "Standard input")) from error


class Progress:
    """One line on standard error, if that is a terminal and standard output is none."""

    def __init__(self) -> None:
        self._shown = _is_terminal(sys.stderr) and not _is_terminal(sys.stdout)
        self._started = self._last = time.monotonic()
        self._count = 0

    def add(self, count: int) -> None:
        """So many lines more are translated."""
        self._count += count
        now = time.monotonic()
        if self._shown and now - self._last >= SECONDS_BETWEEN:
            self._last = now
            speed = self._count / (now - self._started)
            print(f"\r{self._count:,} lines, {speed:,.0f} a second ", end="", file=sys.stderr)

    def clear(self) -> None:
        """Make room for another line."""
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _is_terminal(stream: object) -> bool:
    return bool(getattr(stream, "isatty", lambda: False)())
