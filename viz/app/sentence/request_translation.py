"""The translation that a request asks for: found under its settings, or written by hand."""

from collections.abc import Iterator
from dataclasses import replace

from transformer import InputError, Translation, Translator
from transformer.decoding.settings import SearchSettings
from viz.app.cache import cached_results
from viz.app.cache.search_queue import Watcher
from viz.app.sentence.search_request import SearchRequest


def translate_request(
    translator: Translator, request: SearchRequest, watcher: Watcher | None = None
) -> tuple[Translation, SearchRequest, str]:
    """Translate as much of a request as possible.

    The second value is the request that was used; the third describes what was left out, or is "".
    """
    errors: list[InputError] = []
    for attempt in _relaxed_requests(request):
        try:
            translation = _translate(translator, attempt, watcher)
        except InputError as refused:
            errors.append(refused)
        else:
            if not errors:
                return translation, attempt, ""
            # the same is found wrong again where something else was left out first
            wrong = " ".join(dict.fromkeys(map(str, errors)))
            return translation, attempt, f"{wrong} {_instead(request, attempt)}"
    raise errors[-1]  # there is at least one attempt


def _instead(request: SearchRequest, used: SearchRequest) -> str:
    """Return the sentence shown where not all that was requested could be done."""
    gone = (request.prefix != used.prefix, request.forbid != used.forbid)
    if not any(gone):
        return "Shown is what the model writes."
    went_on = ("without the prefix", "with all words allowed")
    changes = " and ".join(how for how, is_gone in zip(went_on, gone, strict=True) if is_gone)
    return f"The search went on {changes}."


def settings_of(request: SearchRequest) -> SearchSettings:
    """Return the settings of the search."""
    return SearchSettings(
        beam_size=request.beam_size,
        alpha=request.alpha,
        prefix=request.pieces,
        forbidden=request.forbidden,
    )


def _translate(
    translator: Translator, request: SearchRequest, watcher: Watcher | None
) -> Translation:
    if request.edited:
        return _given(translator, request)
    return cached_results.search(translator, request.text, settings_of(request), watcher)


def _given(translator: Translator, request: SearchRequest) -> Translation:
    """Score a translation written by hand; the editor shows where the model is unsure."""
    given = cached_results.score(
        translator, request.text, request.edited, request.alpha
    ).translation
    unsure = translator.domain and translator.domain.notice(given.best.hypothesis)
    return replace(given, notices=tuple(notice for notice in given.notices if notice != unsure))


def _relaxed_requests(request: SearchRequest) -> Iterator[SearchRequest]:
    """Yield the request, then requests without its parts that may be wrong, the text alone last."""
    yield request
    if request.edited:
        request = request._replace(edited="")
        yield request
    if request.prefix:
        yield request._replace(prefix="")
    if request.forbid:
        yield request._replace(forbid="")
    if request.prefix and request.forbid:
        yield request._replace(prefix="", forbid="")
