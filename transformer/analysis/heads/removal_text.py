"""Removed heads as one text, in links and on the screen: `L2 H4 cross, L1 H1 encoder uniform`.

All numbers count from 1. The replacement comes last, nothing for zero: `uniform`, `mean`, `z` and
`weights` for the output z or the weights on a second sentence. `painted 9x8 3-1.4` has a row that
was painted on a map of 9 × 8 (row 3 looks at keys 1 and 4, evenly). From removals to text and back
is exact.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from transformer.analysis.heads.head import Head, require_heads
from transformer.analysis.heads.removal import Removal, Replacement, rows_removal
from transformer.choices import check_choices
from transformer.errors import InputError, quoted
from transformer.kinds import Kind

if TYPE_CHECKING:
    from transformer.model import Transformer

MAX_CHARACTERS = 1_000_000  # largest length of the text of removals

_NAMES: dict[Kind, str] = {"encoder_self": "encoder", "decoder_self": "decoder", "cross": "cross"}
_KINDS = {name: kind for kind, name in _NAMES.items()}
_REPLACEMENTS: dict[str, Replacement] = {
    "": "zero", "u": "uniform", "m": "mean", "z": "z", "w": "weights",
}  # fmt: skip
_REMOVAL = re.compile(
    r"L(?P<layer>#)\s*H(?P<head>#)\s*·?\s*(?P<kind>encoder|decoder|cross)(?:-attention)?"
    r"(?:\s*(?P<how>uniform|mean|z|weights|[umw]|)|\s+painted\s+(?P<queries>#)x(?P<keys>#)"
    r"(?P<rows>(?:\s+#-#(?:\.#){0,511}){1,512}))".replace("#", "[1-9][0-9]{0,3}"),
    re.IGNORECASE | re.ASCII,
)


def format_removals(removals: Sequence[Removal]) -> str:
    """Format the heads as one text, in their order."""
    return ", ".join(map(_format, removals))


def parse_removals(text: str, model: "Transformer | None") -> tuple[list[Removal], str]:
    """Parse a text into removals, and a message on the first head that is left out, or ""."""
    if len(text) > MAX_CHARACTERS:
        return [], (
            f"The list of heads has more than {MAX_CHARACTERS:,} characters: paint fewer patterns."
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
    place = f"L{removal.layer + 1} H{removal.head + 1} {_NAMES[removal.kind]}"
    if removal.rows:
        rows = (
            f" {row + 1}-{'.'.join(str(key + 1) for key in keys)}" for row, keys in removal.rows
        )
        return f"{place} painted {removal.shape[0]}x{removal.shape[1]}{''.join(rows)}"
    return place if removal.how == "zero" else f"{place} {removal.how}"


def _parse(part: str) -> Removal:
    if not part:
        raise InputError("The list of heads has a comma too many.")
    match = _REMOVAL.fullmatch(part)
    if match is None:
        raise InputError(
            f"{quoted(part)} is not a head: write L2 H4 cross, and likewise encoder or decoder."
        )
    place = Head(_KINDS[match["kind"].lower()], int(match["layer"]) - 1, int(match["head"]) - 1)
    if match["rows"]:
        rows = {
            int(row) - 1: tuple(sorted({int(key) - 1 for key in keys.split(".")}))
            for row, keys in re.findall(r"([0-9]+)-([0-9.]+)", match["rows"])
        }
        return rows_removal(place, rows, (int(match["queries"]), int(match["keys"])))
    return Removal(*place, how=_REPLACEMENTS[match["how"][:1].lower()])


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
