"""Heads that are taken away as one short text, for links and commands: `c1.3,e2.0u`.

A letter for the kind (e, d, c), layer and head from 0, and how: nothing for zero, `u` uniform, `m`
mean, `p` with a painted pattern behind it. Text to removals and back is exact.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Sequence

import numpy as np

from transformer.analysis.heads.removal import MOST_CELLS, How, Removal
from transformer.errors import InputError, quoted
from transformer.kinds import Kind

MOST_LETTERS = 1_000_000

_LETTERS: dict[Kind, str] = {"encoder_self": "e", "decoder_self": "d", "cross": "c"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}
_SUFFIXES: dict[How, str] = {"zero": "", "uniform": "u", "mean": "m", "pattern": "p"}
_HOWS = {suffix: how for how, suffix in _SUFFIXES.items()}
_ONE = re.compile(
    r"([edc])([0-9]{1,4})\.([0-9]{1,4})(?:([um]?)|(p)([0-9]{1,4})x([0-9]{1,4})~([\w-]+))",
    re.ASCII,
)


def format_removals(removals: Sequence[Removal]) -> str:
    """The heads as one text, in their order."""
    return ",".join(map(_format, removals))


def parse_removals(text: str) -> tuple[Removal, ...]:
    """What `format_removals` wrote; an empty text is no head.

    Raises:
        InputError: naming the part that is no head.
    """
    if len(text) > MOST_LETTERS:
        raise InputError(
            f"The list of heads has more than {MOST_LETTERS:,} characters: paint fewer patterns."
        )
    return tuple(_parse(part.strip()) for part in text.split(",")) if text.strip() else ()


def _format(removal: Removal) -> str:
    place = f"{_LETTERS[removal.kind]}{removal.layer}.{removal.head}{_SUFFIXES[removal.how]}"
    if removal.pattern is None:
        return place
    values = np.array(removal.pattern, dtype="<f4")
    packed = base64.urlsafe_b64encode(zlib.compress(values.tobytes(), 9)).decode().rstrip("=")
    return f"{place}{values.shape[0]}x{values.shape[1]}~{packed}"


def _parse(part: str) -> Removal:
    match = _ONE.fullmatch(part)
    if match is None:
        raise InputError(
            f"{quoted(part)} is no head: write c1.3 for head 3 of layer 1 of cross-attention, "
            f"counted from 0, with e for the encoder and d for the decoder."
        )
    kind, layer, head, how, painted, rows, columns, packed = match.groups()
    place = (_KINDS[kind], int(layer), int(head))
    if not painted:
        return Removal(*place, how=_HOWS[how])
    pattern = _unpacked(packed, int(rows), int(columns))
    return Removal(*place, how="pattern", pattern=tuple(map(tuple, pattern.tolist())))


def _unpacked(packed: str, rows: int, columns: int) -> np.ndarray:
    size = 4 * rows * columns
    damaged = InputError("The painted pattern in the list of heads is damaged: paint it again.")
    if not 0 < rows * columns <= MOST_CELLS:
        raise damaged
    try:
        compressed = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        # one byte more than is meant, never all that a small text can unpack to
        content = zlib.decompressobj().decompress(compressed, size + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise damaged from error
    if len(content) != size:
        raise damaged
    return np.frombuffer(content, dtype="<f4").reshape(rows, columns)
