"""The lines of standard input or of a file, and how far they have come."""

import sys
import time
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import IO

from transformer.errors import InputError, reading
from transformer.files.lines import refusal, with_line_feeds

NAME = "-"  # of standard input where a file can be named
SECONDS_BETWEEN = 0.2  # of what the progress says
SLOW = 10  # lines a second, below which tenths are told


def lines(max_characters: int) -> Iterator[str]:
    """Yield the lines of standard input, as `_cut` splits them."""
    if sys.stdin is None:
        raise InputError("Standard input is closed: give a text, or lines on standard input.")
    with reading("Standard input", InputError):
        yield from _split_lines(sys.stdin.buffer, "Standard input", max_characters)


def file_lines(name: str, max_characters: int) -> Iterator[str]:
    """Yield the lines of a file, split in the same way."""
    try:
        with reading(name, InputError), Path(name).open("rb") as file:
            yield from _split_lines(file, name, max_characters)
    except ValueError as error:  # Python's, before it asks the system
        raise InputError(f"{name!r} cannot be the name of a file.") from error


def pairs(sources: str, targets: str, max_characters: int) -> Iterator[tuple[str, str]]:
    """Yield the lines of two files, of which one may be `-`, each with its translation."""
    if sources == targets == NAME:
        raise InputError("Lines and translations cannot both be standard input: name a file.")
    sides = [named_lines(name, max_characters) for name in (sources, targets)]
    for number, (source, target) in enumerate(zip_longest(*sides), start=1):
        if source is None or target is None:
            shorter = sources if source is None else targets
            raise InputError(
                f"{'Standard input' if shorter == NAME else shorter} ends before line {number:,}, "
                f"which the other has: give each line its translation."
            )
        yield source, target


def named_lines(name: str, max_characters: int) -> Iterator[str]:
    """Yield the lines of a file; `-` is standard input."""
    return lines(max_characters) if name == NAME else file_lines(name, max_characters)


def _split_lines(file: IO[bytes], name: str, max_characters: int) -> Iterator[str]:
    """Yield lines; leave bytes that are not UTF-8, and lines that are too long, to be refused."""
    most_bytes = 4 * (max_characters + 1)
    start, number = b"", 0
    while line := file.readline(most_bytes):
        whole = len(line) < most_bytes or line.endswith(b"\n")
        end = line
        while not end.endswith(b"\n") and (end := file.readline(most_bytes)):
            pass  # too long: to its end
        if number < 2:
            start += line
            if sentence := refusal(start, name):
                raise InputError(sentence)
            number += 1
        text = with_line_feeds(line).decode("utf-8", errors="surrogateescape")
        yield text.removesuffix("\n") if whole else text


class Progress:
    """One line on standard error, if that is a terminal that does not get the results, too."""

    def __init__(self, *, beside_output: bool = True) -> None:
        shares = beside_output and _is_terminal(sys.stdout)
        self._shown = _is_terminal(sys.stderr) and not shares
        self._started = self._last = time.monotonic()
        self._count = 0

    def add(self, count: int) -> None:
        """Count finished lines, and show the speed from time to time."""
        self._count += count
        now = time.monotonic()
        if self._shown and now - self._last >= SECONDS_BETWEEN:
            self._last = now
            speed = self._count / (now - self._started)
            digits = 0 if speed >= SLOW else 1
            line = f"\r{self._count:,} lines, {speed:,.{digits}f} a second "
            print(line, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Make room for another line."""
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _is_terminal(stream: object) -> bool:
    return bool(getattr(stream, "isatty", lambda: False)())
