"""What a click on the page asks of the search: a prefix that is forced, or a whole translation."""

from __future__ import annotations

from collections.abc import Sequence

from transformer.config import EOS
from transformer.text.tokenizer import SPECIAL, Tokenizer
from viz.app.sentence import search_request


def force(tokenizer: Tokenizer, pieces: Sequence[str]) -> None:
    """Let the next run begin with these pieces; with the end among them, it is the whole.

    Args:
        tokenizer: of the target. What waits for a click stays in memory with the tab, so it holds
            no model.
    """
    *before, last = pieces
    if last == SPECIAL[EOS]:
        search_request.edit(tokenizer.decode(tokenizer.ids_of(before)))
    else:
        search_request.force(pieces)
