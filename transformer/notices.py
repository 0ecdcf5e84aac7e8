"""Plain sentences on what the reader of a translation should know."""

from __future__ import annotations

from collections.abc import Sequence

from transformer.decoding import Hypothesis
from transformer.domain import Domain
from transformer.input_text import unknown
from transformer.languages import Languages
from transformer.search_settings import SearchSettings
from transformer.tokenizer import Piece


def of_language(text: str, languages: Languages) -> list[str]:
    """On a text that does not say into which of several languages it is translated."""
    open_ = languages.notice(text)
    return [open_] if open_ else []


def of_source(pieces: Sequence[Piece]) -> list[str]:
    """On unknown characters of the source."""
    # whatever their direction, the quotes stay outside
    if characters := unknown(pieces, "“\u2068{}\u2069”"):
        return [f"The model has never seen {characters} and reads a blank there."]
    return []


def of_end(best: Hypothesis, settings: SearchSettings, stopped: bool) -> list[str]:
    """On a search that did not come to the end of the sentence."""
    length = len(best.tokens)
    if stopped:
        return [
            f"The search was stopped before its end, after {length} pieces: this is the best that "
            f"it had found."
        ]
    if not best.complete:
        limit = "its limit for this text" if settings.max_length is None else "the given limit"
        return [f"The model did not end the sentence within {length} pieces, {limit}."]
    return []


def of_domain(best: Hypothesis, domain: Domain | None) -> list[str]:
    """On a translation of which the model is less sure than of text that it knows."""
    unsure = domain.notice(best) if domain else None
    return [unsure] if unsure else []
