"""The translation that is asked for: found under a person's settings, or written by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from transformer import InputError, Translation, Translator
from transformer.search_settings import SearchSettings
from transformer.translation import Partial
from viz.app import serving
from viz.app.steering import Asked


def translate(
    translator: Translator, asked: Asked, on_part: Callable[[Partial], None] | None = None
) -> tuple[Translation, Asked, str]:
    """What is asked for, as far as it can be done.

    Args:
        on_part: as `serving.search` takes it.

    Returns:
        The translation, what it was found with, and a sentence that says what was left out, or "".

    Raises:
        HeadlightError: if the text cannot be translated at all.
    """
    errors: list[InputError] = []
    for attempt in _less_and_less(asked):
        try:
            found = _translate(translator, attempt, on_part)
        except InputError as refused:
            errors.append(refused)
        else:
            if not errors:
                return found, attempt, ""
            # the same is found wrong again where something else was left out first
            wrong = " ".join(dict.fromkeys(map(str, errors)))
            return found, attempt, f"{wrong} {_instead(asked, attempt)}"
    raise errors[-1]  # there is at least one attempt


def _instead(asked: Asked, used: Asked) -> str:
    """What is shown where not all that was asked could be done."""
    gone = (asked.prefix != used.prefix, asked.forbid != used.forbid)
    if not any(gone):
        return "Shown is what the model writes."
    went_on = ("without the prefix", "with all words allowed")
    said = " and ".join(how for how, is_gone in zip(went_on, gone, strict=True) if is_gone)
    return f"The search went on {said}."


def settings_of(asked: Asked) -> SearchSettings:
    """The settings of the search.

    Raises:
        InputError: if a number is out of its range.
    """
    return SearchSettings(
        beam_size=asked.beam_size,
        alpha=asked.alpha,
        prefix=asked.pieces,
        forbidden=asked.forbidden,
    )


def _translate(
    translator: Translator, asked: Asked, on_part: Callable[[Partial], None] | None
) -> Translation:
    if asked.edited:
        return _given(translator, asked)
    return serving.search(translator, asked.text, settings_of(asked), on_part)


def _given(translator: Translator, asked: Asked) -> Translation:
    """What a person wrote; that the model is unsure of it is no news, the editor shows where."""
    given = serving.score(translator, asked.text, asked.edited, asked.alpha).translation
    unsure = translator.domain and translator.domain.notice(given.best.hypothesis)
    return replace(given, notices=tuple(said for said in given.notices if said != unsure))


def _less_and_less(asked: Asked) -> Iterator[Asked]:
    """The same, then without what may be wrong with it; the text alone at last."""
    yield asked
    if asked.edited:
        asked = asked._replace(edited="")
        yield asked
    if asked.prefix:
        yield asked._replace(prefix="")
    if asked.forbid:
        yield asked._replace(forbid="")
    if asked.prefix and asked.forbid:
        yield asked._replace(prefix="", forbid="")
