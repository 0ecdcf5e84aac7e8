"""python -m headlight.opened FILE...: open the view of each card of lessons, without a browser.

`headlight lessons check` runs it, as lessons know nothing of the app. It prints, as JSON, file,
line and a sentence for each link that its page does not take, and each place that a view has not.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from streamlit.testing.v1 import AppTest

from transformer.errors import quoted
from viz.app.lessons.panel import LIGHTS
from viz.app.lessons.progress import card_view
from viz.draw.labels import KINDS_BY_NAME, PAGE_TITLES
from viz.lessons import Card, Lesson, LessonError, read_lesson

SECONDS = 60  # that a page may take
_DRAWN = {
    "stVegaLiteChart": "vega_lite_chart",
    "stTable": "table",
    "stDataFrame": "dataframe",
}
"""By class of an element without a key: its type for Streamlit."""
_IN_PICTURES = {"at", "kind", "removed", "trained"}
"""Names in the address that a picture takes, and no field of Streamlit's."""


def _page(path: str) -> None:
    """Draw the bar and a page: Streamlit runs the text of this function."""
    from importlib import import_module

    from viz.app import jobs
    from viz.app.links import address
    from viz.app.models import menu
    from viz.app.sentence import sentence_bar

    address.prepare(path)
    with menu.models_for_run():
        sentence_bar.show()
        try:
            import_module(f"viz.pages.{path}").show()
        except jobs.UnfinishedError as unfinished:
            unfinished.show()
        finally:
            sentence_bar.release_model()


def problems(lesson: Lesson, card: Card) -> Iterator[str]:
    """Yield a sentence for each choice and place that the view of a card has not."""
    view = card_view(lesson, card, next(iter(PAGE_TITLES)))
    app = AppTest.from_function(_page, default_timeout=SECONDS, kwargs={"path": view.page})
    for name, values in view.choices.items():
        app.query_params[name] = list(values)
    app.run()
    if app.exception:
        yield "the page of this link ends with an error: open it in the app."
    for name, values in view.choices.items():
        value = app.session_state[name] if name in app.session_state else ""  # noqa: SIM401  no dict
        shown = [str(part) for part in (value if isinstance(value, list) else [value])]
        if any(shown) or name in _IN_PICTURES:  # a field takes out of the address what it refuses
            stands = app.query_params.get(name, [])
            shown += [stands] if isinstance(stands, str) else stands
        # a link may have only the number with which a value begins
        known = {part.casefold() for text in shown for part in (text, text.partition(" ")[0])}
        if name == "kind" and not KINDS_BY_NAME.keys() >= {*values}:
            yield f"there is no kind {quoted(values[-1])}: choose among {', '.join(KINDS_BY_NAME)}."
        elif not any(known):
            yield f"the page of this link has no {quoted(name)}: copy the address of a view."
        elif not known >= {text.casefold() for text in values}:
            yield f"this link has {name}={quoted(values[-1])}, and its page shows {shown[0]}."
    keys = LIGHTS[card.light] if card.light not in (None, "navigation") else ()
    ids = tuple(_ids(app._tree))
    if keys and not any(app.get(_DRAWN[key]) if key in _DRAWN else key in ids for key in keys):
        yield f"this view has no {card.light} to highlight: choose another place or view."


def _ids(block: object) -> Iterator[str]:
    """Yield the key of each element and container that is drawn."""
    for child in getattr(block, "children", {}).values():
        # an identity is that of Streamlit, a hash, and the key
        yield getattr(getattr(child, "proto", None), "id", "").partition("-")[2].partition("-")[2]
        yield from _ids(child)


def main(paths: list[str]) -> None:
    """Print what is wrong with the views of lesson files that can be read."""
    wrong: list[tuple[str, int, str]] = []
    for path in map(Path, paths):
        try:
            lesson = read_lesson(path)
        except LessonError:
            continue
        linked = (card for card in lesson.cards if card.view)
        wrong += [
            (path.name, card.line, text) for card in linked for text in problems(lesson, card)
        ]
    print(json.dumps(wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
