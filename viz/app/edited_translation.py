"""A translation by the model under hooks, beside that of the bar."""

from collections.abc import Mapping

from transformer import HeadlightError, hooks
from transformer.analysis import edited
from viz.app.cache import cached_results
from viz.app.chrome import problems
from viz.app.sentence import search_request, sentence_bar, translation_line
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import list_result
from viz.draw.formatting import format_number


def show(bar: BarTranslation, edits: Mapping[str, hooks.Hook], name: str) -> None:
    """Translate under edits, which `name` identifies, and mark differences from the bar."""
    translator, translation = bar.translator, bar.translation
    try:
        new = cached_results.translate_edited(
            translator, translation.source, bar.used.settings, edits, name
        )
    except HeadlightError as error:  # an edited translation can have untested settings
        problems.say(error)
        return
    verdict = "the same words"
    if new.text != translation.text:
        verdict = "new words in bold, dropped ones struck through"
    translation_line.show_candidate(
        new.text,
        translation.text,
        f"translated with {name}: {verdict} · log probability {format_number(new.log_prob)}",
    )
    sentence_bar.show_notices_of(bar, new)
    search = search_request.arguments(bar.used.settings)
    result, translate = (new.text, new.log_prob), edited.edited_translation
    list_result("translation", result, translate, translator, bar.trace, edits, **search)
