"""Types of command-line arguments, for all commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable

MAX_BEAM_SIZE = 64


def whole_number(minimum: int, maximum: int | None = None) -> Callable[[str], int]:
    """A `type` for argparse that takes whole numbers of a range, both ends included."""

    def parse(text: str) -> int:
        if text.isdecimal() and len(text) < 20:  # int() refuses thousands of digits
            number = int(text)
            if minimum <= number and (maximum is None or number <= maximum):
                return number
        allowed = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        raise argparse.ArgumentTypeError(f"'{text}' must be a whole number {allowed}")

    return parse
