"""Plain sentences on what the reader of a translation should know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transformer.decoding import Hypothesis
from transformer.domain import Domain
from transformer.input_text import unknown
from transformer.languages import Languages
from transformer.search_settings import SearchSettings
from transformer.tokenizer import Piece

if TYPE_CHECKING:
    from transformer.trace import AttentionTrace
    from transformer.translator import Translator


def of_language(text: str, languages: Languages) -> list[str]:
    """On a text that does not say into which of several languages it is translated."""
    open_ = languages.notice(text)
    return [open_] if open_ else []


def of_source(pieces: Sequence[Piece]) -> list[str]:
    """On unknown characters of what the model reads."""
    # whatever their direction, the quotes stay outside
    if characters := unknown(pieces, "“\u2068{}\u2069”"):
        return [
            f"The vocabulary has no {characters}: the model reads <unk> there, as for every "
            f"unknown character."
        ]
    return []


def of_end(best: Hypothesis, settings: SearchSettings, stopped_after: int | None) -> list[str]:
    """On a search that did not come to the end of the sentence.

    Args:
        stopped_after: pieces of its prefixes when it was stopped; None unless it was.
    """
    if stopped_after is not None:
        return [
            f"The search was stopped before its end, after {_pieces(stopped_after)}: this is the "
            f"best that it had found."
        ]
    if not best.complete:
        limit = "its limit for this text" if settings.max_length is None else "the given limit"
        return [f"The model did not end the sentence within {_pieces(len(best.tokens))}, {limit}."]
    return []


def of_domain(best: Hypothesis, domain: Domain | None) -> list[str]:
    """On a translation of which the model is less sure than of text that it knows."""
    unsure = domain.notice(best) if domain else None
    return [unsure] if unsure else []


def of_search(
    translator: Translator,
    text: str,
    source: Sequence[Piece],
    best: Hypothesis,
    settings: SearchSettings,
    stopped_after: int | None = None,
) -> tuple[str, ...]:
    """All on a translation that a search has found.

    Args:
        source: the pieces of the text.
        best: the translation.
        stopped_after: as `of_end` takes it.
    """
    return (
        *of_language(text, translator.languages),
        *of_source(source),
        *of_end(best, settings, stopped_after),
        *of_domain(best, translator.domain),
    )


def of_given(translator: Translator, trace: AttentionTrace) -> tuple[str, ...]:
    """All on a trace of a translation that was given; that the model is unsure of it is no news."""
    return (
        *of_language(trace.source, translator.languages),
        *of_source([*trace.source_pieces, *trace.target_pieces]),
    )


def _pieces(count: int) -> str:
    return f"{count} piece{'' if count == 1 else 's'}"
