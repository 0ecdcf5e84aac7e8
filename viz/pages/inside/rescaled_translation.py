"""The translation that the model finds while the scale of its scores is another."""

from __future__ import annotations

from collections.abc import Mapping

from transformer import HeadlightError, Translation, Translator
from transformer.hooks import Hook
from viz.app import cached_results, sentence_bar
from viz.app.candidates import show_candidate
from viz.app.problems import say
from viz.draw.formatting import format_number


def rescaled_translation(
    translator: Translator, translation: Translation, edits: Mapping[str, Hook], name: str
) -> None:
    """Say what is translated under some edits; what differs from the bar is marked.

    Args:
        translation: the one in the bar.
        edits: hooks that change every pass of the search.
        name: of the edits, in words; the same words always mean the same edits.
    """
    try:
        found = cached_results.translate_edited(
            translator, translation.source, sentence_bar.settings(), edits, name
        )
    except HeadlightError as error:  # beside an edited translation, settings that none has tried
        say(error)
        return
    verdict = "the same words"
    if found.text != translation.text:
        verdict = "new words in bold, words that were left out struck through"
    show_candidate(
        found.text,
        translation.text,
        f"translated with {name}: {verdict} · log p {format_number(found.log_prob)}",
    )
    sentence_bar.show_notices_of(found)
