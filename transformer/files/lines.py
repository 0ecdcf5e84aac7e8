r"""Lines of a text as every command reads them: UTF-8, ended by `\n` or `\r\n`.

No other character ends a line, however it is shown: a carriage return alone is a space.
"""

import codecs
import re

from transformer.errors import InputError
from transformer.files.reading import POINTER, POINTER_ADVICE

MARK = codecs.BOM_UTF8
"""The byte-order mark that some editors put before a text, and before a line of texts that were
put together; it belongs to no line."""

_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # UTF-32 begins with one, or with NUL

_PACKED = re.compile(rb"\x1f\x8b|PK\x03\x04|\xfd7zXZ|BZh\d1AY|\x28\xb5\x2f\xfd")
_ROOTS = rb"\?xml|!doctype|srcset|refset|tstset|mteval|dataset|tmx|xliff|doc\b(?=.*<seg)"
_MARKUP = re.compile(rb"(?is)\s*<(?:%s)\b" % _ROOTS)


def with_line_feeds(content: bytes) -> bytes:
    r"""Return whole lines without BOMs, each ended by `\n`; a carriage return alone is a space."""
    content = content.removeprefix(MARK).replace(b"\r\n", b"\n").replace(b"\r", b" ")
    return content.replace(b"\n" + MARK, b"\n")


def cut_lines(content: bytes) -> list[str]:
    """Return whole lines of UTF-8 without their ends.

    Raises:
        UnicodeDecodeError: if they are not UTF-8; its `object` has line feeds as the only ends.
    """
    text = with_line_feeds(content).decode("utf-8")
    # not splitlines(): it also cuts at characters inside sentences
    return text.removesuffix("\n").split("\n") if text else []


def decode_lines(data: bytes, most_lines: int) -> list[str]:
    """Return the lines of a file that a user brings: UTF-8, or UTF-16 with a BOM."""
    if data.startswith(_WIDE_MARKS):
        try:
            data = data.decode("utf-16").encode("utf-8")
        except UnicodeDecodeError as error:
            place = f"Byte {error.start + 1:,} of the file"
            raise InputError(
                f"{place} is not part of a UTF-16 text: save the file as UTF-8."
            ) from error
    if sentence := refusal(data, "The file", wide=True):
        raise InputError(sentence)
    data = data.removeprefix(MARK)
    if (zero := data.find(b"\0")) >= 0:
        line = 1 + data.count(b"\n", 0, zero)
        raise InputError(f"Line {line:,} has a zero byte, as no text has: save the file as UTF-8.")
    count = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    if count > most_lines:
        raise InputError(
            f"The file has {count:,} lines, and at most {most_lines:,} are read: shorten it."
        )
    try:
        return cut_lines(data)
    except UnicodeDecodeError as error:
        line, byte = 1 + error.object.count(b"\n", 0, error.start), error.object[error.start]
        raise InputError(
            f"Line {line:,} has the byte 0x{byte:02X}, which is not UTF-8: save the file as UTF-8."
        ) from error


def refusal(start: bytes, name: object, *, wide: bool = False) -> str | None:
    """Return a sentence on the text `name` if it does not begin as lines do; else None.

    Lines are UTF-8 or, for those who decode it themselves, `wide`.
    """
    if _PACKED.match(start):
        return f"{name} is packed, where text is read: unpack it first."
    if start.startswith(POINTER):
        return f"{name} {POINTER_ADVICE}."
    if _MARKUP.match(start.removeprefix(MARK)):
        return (
            f"{name} is SGML or XML: write each sentence on its own line, without tags (sacrebleu "
            f"-t wmt14 -l en-de --echo src does it for a test set)."
        )
    first, _, second = start.partition(b"\n")
    # without a mark, half of each letter is NUL, and so is half of the line feed
    has_zeros = start.startswith(_WIDE_MARKS) or b"\0" in first or second.startswith(b"\0")
    if has_zeros and not wide:
        return (
            f"{name} is UTF-16, or no text, where UTF-8 is read: convert it, for example with "
            f"iconv -f UTF-16 -t UTF-8."
        )
    return None
