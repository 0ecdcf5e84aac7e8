"""python -m headlight.opened FILE...: open the view of each card of lessons, without a browser.

`headlight lessons check` runs it, as lessons know nothing of the app. It prints, as JSON, file,
line and a sentence for each link that its page does not take, and each place or label, set in
*italics*, that a view has not.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from transformer.errors import quoted
from viz.app import jobs
from viz.app.lessons.panel import LIGHTS
from viz.app.lessons.progress import card_view
from viz.draw.labels import KINDS_BY_NAME, PAGE_TITLES
from viz.lessons import Card, Lesson, LessonError, read_lesson
from viz.lessons.texts import TEXTS

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
    from viz.app.sentence import search_request, sentence_bar

    address.prepare(path, search_request.TEXTS)
    page = import_module(f"viz.pages.{path}").PAGE
    with menu.models_for_run():
        bar = sentence_bar.show(is_used=page.needs_sentence)
        try:
            page.show(bar)
        except jobs.UnfinishedError as unfinished:
            unfinished.show()


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
    drawn = [*_drawn(app._tree)]
    # an identity is that of Streamlit, a hash, and the key
    ids = [getattr(one, "id", "").partition("-")[2].partition("-")[2] for one in drawn]
    if keys and not any(app.get(_DRAWN[key]) if key in _DRAWN else key in ids for key in keys):
        yield f"this view has no {card.light} to highlight: choose another place or view."
    around = *PAGE_TITLES.values(), *TEXTS[lesson.language].values()
    seen = _plain(" ".join([*around, *(text for one in drawn for text in _texts(one))]))
    for label in _LABEL.findall(re.sub("(?m)^words:.*", "", card.source)):
        parts = [re.escape(part.strip()) for part in _plain(label).split("…")]
        is_there = all(re.search(rf"(?<!\w){part}(?!\w)", seen) for part in parts)
        if not is_there and label not in card.words:
            yield (
                f"the page of this card has no {quoted(label)}: write a label as the page has it, "
                "set other words in **bold** or name them under “words:”."
            )


_LABEL = re.compile(r"(?<![*\w\\])\*([^*\s](?:[^*\n]|\n(?!\n))*)\*(?![*\w])")
_SCRIPT = next(Path(__file__).with_name("browser").glob("headlight-*.js"))
_WRITTEN = " ".join(re.findall(r'"([^"\\]*)"', _SCRIPT.read_text("utf-8")))


def _drawn(block: object) -> Iterator[Any]:
    """Yield the message of each element and container that is drawn."""
    for child in getattr(block, "children", {}).values():
        if (message := getattr(child, "proto", None)) is not None:
            yield message
        yield from _drawn(child)


def _texts(message: Any) -> Iterator[str]:
    """Yield each text of a message, and those that the script of a picture writes by itself."""
    for field, value in message.ListFields():
        for part in value if field.is_repeated else [value]:
            if isinstance(part, bytes):
                yield part.decode(errors="ignore")
            elif isinstance(part, str):
                yield _WRITTEN if part == _SCRIPT.name else part
            elif hasattr(part, "ListFields"):
                yield from _texts(part)


def _plain(text: str) -> str:
    """Return a text without marks of Markdown and of direction, in lower case."""
    return " ".join(re.sub(r"[\\*`\u2060-\u2069]", "", text).casefold().split())


def main(paths: list[str]) -> None:
    """Print what is wrong with the views of lesson files that can be read."""
    wrong: list[tuple[str, int, str]] = []
    jobs.PATIENCE = SECONDS  # this process waits for what a page would draw later
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
