"""The translation in the bar, scored: its pieces, with the best alternatives at each place."""

from __future__ import annotations

from transformer.translation.score import Scored
from viz.app.cache import cached_results
from viz.app.sentence.sentence_bar import BarTranslation


def scored(bar: BarTranslation) -> Scored:
    """The translation in the bar, piece by piece, with the best alternatives of each step.

    Raises:
        InputError: if a side is too long for a map.
    """
    used = bar.used
    target = used.edited or tuple(piece.text for piece in bar.translation.best.pieces)
    return cached_results.score(bar.translator, used.text, target, used.alpha)
