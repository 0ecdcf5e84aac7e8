"""The four parts of a map over a pair of texts: who looks, and into which of the two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from transformer.trace import Labels

if TYPE_CHECKING:
    from transformer.analysis.axes import LabelledWeights

_TEXTS = ("first", "second")


class PairPart(NamedTuple):
    """The rows of one text and the columns of one.

    Args:
        looking: the text that looks.
        looked_at: the text that is looked at.
        rows: the first row, and the one after the last.
        keys: likewise, of the columns.
    """

    looking: str
    looked_at: str
    rows: tuple[int, int]
    keys: tuple[int, int]

    def crop(self, axes: LabelledWeights) -> LabelledWeights:
        """Crop all maps of encoder self-attention to this part."""
        rows, keys = slice(*self.rows), slice(*self.keys)
        return axes._replace(
            weights=np.ascontiguousarray(axes.weights[:, :, rows, keys]),
            labels=Labels(axes.labels.queries[rows], axes.labels.keys[keys]),
            second_start=None,
        )

    def described(self) -> dict[str, Any]:
        """As `js/explorer` reads it."""
        note = (
            f"Rows of the {self.looking} text, columns of the {self.looked_at}: what a row gives "
            f"to the other text is left out of its sum."
        )
        return {**self._asdict(), "note": note}


def pair_parts(axes: LabelledWeights) -> list[PairPart]:
    """All four; none where there is one text, or where one has no token that is shown."""
    start, count = axes.second_start, len(axes.labels.queries)
    if start is None or not 0 < start < count:
        return []
    spans = {"first": (0, start), "second": (start, count)}
    return [
        PairPart(looking, looked_at, spans[looking], spans[looked_at])
        for looking in _TEXTS
        for looked_at in _TEXTS
    ]
