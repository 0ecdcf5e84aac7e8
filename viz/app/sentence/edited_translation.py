"""A translation by the model under hooks, beside that of the bar."""

from collections.abc import Mapping

from transformer import HeadlightError, Translation, Translator, hooks
from viz.app.cache import cached_results
from viz.app.chrome import problems
from viz.app.sentence import sentence_bar, translation_line
from viz.draw.formatting import format_number


def show(
    translator: Translator, translation: Translation, edits: Mapping[str, hooks.Hook], name: str
) -> Translation | None:
    """Translate under edits, which `name` identifies, and mark differences from the bar.

    Returns None after saying why there is no such translation.
    """
    try:
        edited = cached_results.translate_edited(
            translator, translation.source, sentence_bar.settings(), edits, name
        )
    except HeadlightError as error:  # an edited translation can have untested settings
        problems.say(error)
        return None
    verdict = "the same words"
    if edited.text != translation.text:
        verdict = "new words in bold, dropped ones struck through"
    translation_line.show_candidate(
        edited.text,
        translation.text,
        f"translated with {name}: {verdict} · log probability {format_number(edited.log_prob)}",
    )
    sentence_bar.show_notices_of(edited)
    return edited
