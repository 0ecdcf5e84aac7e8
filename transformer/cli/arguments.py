"""The parser and the types of command-line arguments, for all commands."""

import argparse
import io
import math
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from transformer.cli import command
from transformer.errors import one_line, unreadable

MAX_COUNT = 10**9  # of what has no bound of its own: it can be counted, and computed with


_NO_VALUE = re.compile(r"(-\w|--[\w-]+=)--")


class Parser(argparse.ArgumentParser):
    """A parser whose errors quote what was typed on one line of bounded length."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuse `--option=--`, whose value argparse takes away without a word."""
        given = list(sys.argv[1:] if args is None else args)
        options = given[: given.index("--")] if "--" in given else given
        for word in options:
            if _NO_VALUE.fullmatch(word):
                self.error(f"argument {word.removesuffix('--').rstrip('=')}: '--' is not a value")
        try:
            return super().parse_known_args(given, namespace)
        except OSError as error:  # of a path that the system does not take
            self.error(unreadable(error, error.filename))

    def print_help(self, file: Any = None) -> None:
        """Print the help, with an escape for each letter that the terminal does not have."""
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        text = self.format_help()
        if status := command.run_guarded(self.prog, lambda: print(text, end="", file=file)):
            self.exit(status)

    def error(self, message: str) -> NoReturn:
        """Print the usage and one line, and leave with status 2."""
        super().error(one_line(message))


def whole_number(minimum: int, maximum: int = MAX_COUNT) -> Callable[[str], int]:
    """Make an argparse type for whole numbers of a range, both ends included."""

    def parse(text: str) -> int:
        if text.isdecimal() and len(text) < 20:  # int() refuses thousands of digits
            number = int(text)
            if minimum <= number <= maximum:
                return number
        raise argparse.ArgumentTypeError(
            f"'{text}' must be a whole number from {minimum} to {maximum:,}"
        )

    return parse


def number(minimum: float, maximum: float) -> Callable[[str], float]:
    """Make an argparse type for numbers of a range, both ends included, never NaN."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if minimum <= value <= maximum:
            return value
        raise argparse.ArgumentTypeError(f"'{text}' must be a number from {minimum} to {maximum}")

    return parse
