"""Why a query may not see a key, said in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from viz.draw.formatting import listing
from viz.draw.labels import capitalised, quoted

if TYPE_CHECKING:
    from transformer.analysis.paper.masking import MaskReason

REASONS: Mapping[MaskReason, tuple[str, str]] = {
    "later": ("it comes later", "they come later"),
    "padding": ("it is padding", "they are padding"),
    "both": ("it comes later and is padding", "they come later and are padding"),
}
"""What hides a key: of one, and of several."""


def describe_row(name: str, keys: Sequence[str], whys: Sequence[MaskReason]) -> list[str]:
    """One row of a mask: what it may see, then what it may not, in the order of the keys.

    Keys with one reason that stand beside each other share a sentence, such as “The row of “dogs”
    may not see 2 × “<pad>”: they are padding.”

    Args:
        name: of the row, as `row_names` has it.
        keys: as the screen shows them.
        whys: what hides each key.
    """
    row = capitalised(name)
    seen = [key for key, why in zip(keys, whys, strict=True) if why == "seen"]
    sentences = [f"{row} may see {_listed(seen)}."]
    for why, group in groupby(zip(keys, whys, strict=True), key=lambda pair: pair[1]):
        if why != "seen":
            hidden = [key for key, _ in group]
            reason = REASONS[why][len(hidden) > 1]
            sentences.append(f"{row} may not see {_listed(hidden)}: {reason}.")
    return sentences


def _listed(tokens: Sequence[str]) -> str:
    """Join tokens as “a”, “b” and “c”; equal neighbours, such as padding, are counted."""
    groups = [(token, len(list(group))) for token, group in groupby(tokens)]
    names = [quoted(token) if n == 1 else f"{n} × {quoted(token)}" for token, n in groups]
    return listing(names)
