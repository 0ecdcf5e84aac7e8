"""Warnings that the reader of a translation should see, as plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from transformer.checkpoints.domain import Domain
from transformer.decoding import Hypothesis
from transformer.decoding.settings import SearchSettings
from transformer.text.languages import Languages
from transformer.text.reader import unknown
from transformer.text.tokenizer import Piece
from transformer.traces.fields import TraceFields
from transformer.translation.loaded_model import LoadedModel


def language_warnings(text: str, languages: Languages) -> list[str]:
    """Warn of a text that does not say into which of several languages it is translated."""
    warning = languages.notice(text)
    return [warning] if warning else []


def source_warnings(pieces: Sequence[Piece]) -> list[str]:
    """Warn of characters that the vocabulary of the model does not have."""
    # whatever their direction, the quotes stay outside
    if characters := unknown(pieces, "“\u2068{}\u2069”"):
        return [
            f"The vocabulary has no {characters}: the model reads <unk> there, as for every "
            f"unknown character."
        ]
    return []


def end_warnings(
    best: Hypothesis, settings: SearchSettings, stopped_after: int | None
) -> list[str]:
    """Warn of a search that did not reach the end of the sentence.

    Args:
        best: the best hypothesis.
        settings: the settings of the search.
        stopped_after: length in pieces of its prefixes when it was stopped; None unless it was.
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


def domain_warnings(best: Hypothesis, domain: Domain | None) -> list[str]:
    """Warn of a translation that the model is less sure of than of familiar text."""
    unsure = domain.notice(best) if domain else None
    return [unsure] if unsure else []


def search_warnings(
    loaded: LoadedModel,
    text: str,
    source: Sequence[Piece],
    best: Hypothesis,
    settings: SearchSettings,
    stopped_after: int | None = None,
) -> tuple[str, ...]:
    """Return all warnings on the result of a search.

    Args:
        loaded: the model that searched.
        text: the source as it was typed.
        source: its pieces.
        best: the best hypothesis.
        settings: the settings of the search.
        stopped_after: None unless the search was stopped.
    """
    return (
        *language_warnings(text, loaded.languages),
        *source_warnings(source),
        *end_warnings(best, settings, stopped_after),
        *domain_warnings(best, loaded.domain),
    )


def given_warnings(loaded: LoadedModel, trace: TraceFields) -> tuple[str, ...]:
    """Return the warnings on the trace of a forced translation.

    That the model is unsure of it is expected, so there is no domain warning.
    """
    return (
        *language_warnings(trace.source, loaded.languages),
        *source_warnings([*trace.source_pieces, *trace.target_pieces]),
    )


def _pieces(count: int) -> str:
    return f"{count} piece{'' if count == 1 else 's'}"
