"""Numbers as the screen writes them."""

from __future__ import annotations


def format_number(number: float, digits: int = 2, *, sign: bool = False) -> str:
    """A number with a true minus sign, as wide as a plus; with `sign` the plus is shown, too."""
    text = f"{number:+.{digits}f}" if sign else f"{number:.{digits}f}"
    return text.replace("-", "−")
