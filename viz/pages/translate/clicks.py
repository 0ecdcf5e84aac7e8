"""The scored translation in the bar, and what a click on one of its pieces forces."""

from __future__ import annotations

from collections.abc import Sequence

from transformer.config import EOS
from transformer.text.tokenizer import SPECIAL, Tokenizer
from transformer.translation.score import Scored
from viz.app.cache import cached_results
from viz.app.sentence import search_request
from viz.app.sentence.sentence_bar import BarTranslation


def scored(bar: BarTranslation) -> Scored:
    """Score the translation in the bar piece by piece, with the best alternatives of each step.

    Raises:
        InputError: if a side is too long for a map.
    """
    used = bar.used
    target = used.edited or tuple(piece.text for piece in bar.translation.best.pieces)
    return cached_results.score(bar.translator, used.text, target, used.alpha)


def force(tokenizer: Tokenizer, pieces: Sequence[str]) -> None:
    """Force these pieces in the next run: a prefix, or with the end token the whole translation.

    It takes no model, because Streamlit keeps callbacks with their arguments in memory.
    """
    *prefix, last = pieces
    if last == SPECIAL[EOS]:
        search_request.edit(tokenizer.decode(tokenizer.ids_of(prefix)))
    else:
        search_request.force(pieces)
