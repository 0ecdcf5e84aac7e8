r"""Lines of a text as every command reads them: UTF-8, ended by `\n` or `\r\n`.

No other character ends a line, however it is shown: a lone carriage return is a blank.
"""

from __future__ import annotations

import codecs

MARK = codecs.BOM_UTF8
"""The byte-order mark that some editors put before a text; it belongs to no line."""

_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # UTF-32 begins with one, or with NUL


def with_line_feeds(content: bytes) -> bytes:
    r"""Return whole lines with `\n` as their only end, other carriage returns as blanks."""
    return content.replace(b"\r\n", b"\n").replace(b"\r", b" ")


def utf16_refusal(start: bytes, name: object) -> str | None:
    """Return a sentence on a text that begins as UTF-16 does; None for any other.

    Args:
        start: its first line, and of the second one at least a byte where there is one.
        name: what the sentence calls it.
    """
    first, _, second = start.partition(b"\n")
    # without a mark, half of each letter is NUL, and so is half of the line feed
    if start.startswith(_WIDE_MARKS) or b"\0" in first or second.startswith(b"\0"):
        return (
            f"{name} is UTF-16, or no text, where UTF-8 is read: convert it, for example with "
            f"iconv -f UTF-16 -t UTF-8."
        )
    return None
