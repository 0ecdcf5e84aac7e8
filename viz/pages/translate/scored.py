"""The translation in the bar, scored: its pieces, with the best alternatives at each place."""

from __future__ import annotations

from transformer.score import Scored
from viz.app import cached_results
from viz.app.sentence_bar import Found


def scored(found: Found) -> Scored:
    """The translation in the bar, piece by piece, with the best alternatives of each step.

    Raises:
        InputError: if a side is too long for a map.
    """
    used = found.used
    target = used.edited or tuple(piece.text for piece in found.translation.best.pieces)
    return cached_results.score(found.translator, used.text, target, used.alpha)
