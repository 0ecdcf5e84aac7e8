"""Removed heads as one short text, in links and everywhere else: `c1.3,e0.0u,d0.0z`.

A letter for the kind (e, d, c), layer and head from 0, and the replacement: nothing for zero, `u`
uniform, `m` mean, `z` and `w` the output z or the weights on a second sentence. `p9x8_2-0.3` has
rows that were painted on a map of 9 × 8 (row 2 looks at keys 0 and 3, evenly), `p9x8~` a whole
painted pattern. From removals to text and back is exact. The name on the screen is read as well:
`L2 H4 cross-attention` is `c1.3`, and `L2 H4 crossu` is `c1.3u`.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from transformer.analysis.heads.head import Head, require_heads
from transformer.analysis.heads.removal import (
    MOST_CELLS,
    Removal,
    Replacement,
    pattern_removal,
    rows_removal,
)
from transformer.choices import check_choices
from transformer.errors import InputError, quoted
from transformer.kinds import Kind

if TYPE_CHECKING:
    from transformer.model import Transformer

MOST_LETTERS = 1_000_000
"""Largest length of the text of removals."""

_LETTERS: dict[Kind, str] = {"encoder_self": "e", "decoder_self": "d", "cross": "c"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}
_SUFFIXES: dict[Replacement, str] = {
    "zero": "", "uniform": "u", "mean": "m", "z": "z", "weights": "w",
}  # fmt: skip
_REPLACEMENTS = {suffix: replacement for replacement, suffix in _SUFFIXES.items()}
_REMOVAL = re.compile(
    r"([edc])([0-9]{1,4})\.([0-9]{1,4})(?:([umzw]?)|p([0-9]{1,4})x([0-9]{1,4})"
    r"(?:~([\w-]+)|((?:_[0-9]{1,4}-[0-9]{1,4}(?:\.[0-9]{1,4}){0,511}){1,512})))",
    re.ASCII,
)
_SCREEN_NAME = re.compile(
    r"\AL([0-9]{1,4})\s*H([0-9]{1,4})\s*·?\s*(encoder|decoder|cross(?:-attention)?)",
    re.IGNORECASE | re.ASCII,
)


def format_removals(removals: Sequence[Removal]) -> str:
    """Format the heads as one text, in their order."""
    return ",".join(map(_format, removals))


def parse_removals(text: str, model: Transformer | None) -> tuple[list[Removal], str]:
    """Parse a text into removals, and a message on the first head that is left out, or "".

    An empty text is no head. The model must have the heads, each named once; None leaves that
    unchecked.
    """
    if len(text) > MOST_LETTERS:
        return [], (
            f"The list of heads has more than {MOST_LETTERS:,} characters: paint fewer patterns."
        )
    removals: list[Removal] = []
    places: set[Head] = set()
    problem = ""
    for part in text.split(",") if text.strip() else ():
        try:
            removal = _parse(part.strip())
            if model is not None:
                repeated = [removal.place] if removal.place in places else []
                require_heads(model, [*repeated, removal.place])
        except InputError as error:
            problem = problem or f"{error} It is left out here."
            continue
        removals.append(removal)
        places.add(removal.place)
    return removals, problem


def _format(removal: Removal) -> str:
    place = f"{_LETTERS[removal.kind]}{removal.layer}.{removal.head}"
    if removal.pattern is not None:
        values = np.array(removal.pattern, dtype="<f4")
        packed = base64.urlsafe_b64encode(zlib.compress(values.tobytes(), 9)).decode().rstrip("=")
        return f"{place}p{values.shape[0]}x{values.shape[1]}~{packed}"
    if removal.rows:
        rows = (f"_{row}-{'.'.join(map(str, keys))}" for row, keys in removal.rows)
        return f"{place}p{removal.shape[0]}x{removal.shape[1]}{''.join(rows)}"
    return place + _SUFFIXES[removal.how]


def _parse(part: str) -> Removal:
    """Parse the text of one head.

    Raises:
        InputError: if it names no head.
    """
    if not part:
        raise InputError("The list of heads has a comma too many.")
    match = _REMOVAL.fullmatch(_SCREEN_NAME.sub(_in_link, part, count=1))
    if match is None:
        raise InputError(
            f"{quoted(part)} is no head: write L2 H4 cross-attention, or as the link does c1.3, "
            f"where layer and head count from 0; with encoder (e) and decoder (d) likewise."
        )
    kind, layer, head, suffix, queries, keys, packed, painted_rows = match.groups()
    place = Head(_KINDS[kind], int(layer), int(head))
    if packed:
        return pattern_removal(place, _unpacked(packed, int(queries), int(keys)))
    if painted_rows:
        pairs = (row.split("-") for row in painted_rows.split("_")[1:])
        rows = {int(row): tuple(sorted(set(map(int, cols.split("."))))) for row, cols in pairs}
        return rows_removal(place, rows, (int(queries), int(keys)))
    return Removal(*place, how=_REPLACEMENTS[suffix])


def _in_link(name: re.Match[str]) -> str:
    """Write the name of a head on the screen as a link does."""
    layer, head, kind = name.groups()
    # the screen counts from 1: there is no L0, and -1 is no number of the link
    return f"{kind[0].lower()}{int(layer) - 1}.{int(head) - 1}"


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


@check_choices
def toggled(removals: Sequence[Removal], place: Head, replacement: Replacement) -> list[Removal]:
    """Remove one head, or bring it back if it is removed."""
    others = [removal for removal in removals if removal.place != place]
    if len(others) < len(removals):
        return others
    return [*others, Removal(*place, how=replacement)]


def with_row(
    removals: Sequence[Removal],
    place: Head,
    shape: tuple[int, int],
    row: int,
    keys: Sequence[int],
) -> list[Removal]:
    """Paint one row of a head's weights; without keys the row is the model's own again."""
    before = next((removal for removal in removals if removal.place == place), None)
    rows = dict(before.rows) if before and before.shape == shape else {}
    rows.pop(row, None)
    if keys:
        rows[row] = tuple(sorted(keys))
    new = [rows_removal(place, rows, shape)] if rows else []
    if before is None:
        return [*removals, *new]
    index = removals.index(before)
    return [*removals[:index], *new, *removals[index + 1 :]]
