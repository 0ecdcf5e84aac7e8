"""A lesson beside the pages: its cards, answers and place, all of them in the address."""

from __future__ import annotations

import numpy as np
import pytest

from tests.viz.app_test import in_url, texts
from viz.app.lessons.library import LESSONS_VARIABLE
from viz.app.lessons.progress import SEPARATOR, SHOWN
from viz.app.lessons.texts import TEXTS

SENTENCE = "The dog sleeps in the garden."
LESSON = """---
title: Two cards
goal: Find the dog.
minutes: 3
language: {language}
sentence: {sentence}
---

Before the first card.

## Where it looks

Look at one row.

```yaml
link: /heads?kind=cross&layer=1&head=2
light: map
ask: Which subword gets most?
answer: {{measure: strongest, head: L1 H2 cross, row: 1}}
reveal: Here it is {{answer}}!
```

## How much

```yaml
ask: How much?
answer: {{measure: weight, head: L1 H2 cross, row: 1, column: 2, within: 0.02}}
```

## Which one

```yaml
ask: Which is the sentence's first word?
reveal: The first.
```

- [ ] dog
- [x] The

## A head that is not there

```yaml
ask: How sharp?
answer: {{measure: entropy, head: L9 H9 cross}}
```

## A word that is not there

```yaml
ask: How sure?
answer: {{measure: weight, head: L1 H2 cross, row: 1, column: 7}}
```
"""


@pytest.fixture
def lessons(tmp_path, monkeypatch):
    text = LESSON.format(language="en", sentence=SENTENCE)
    (tmp_path / "two.md").write_text(text, "utf-8")
    german = LESSON.format(language="de", sentence=SENTENCE)
    (tmp_path / "zwei.md").write_text(german, "utf-8")
    monkeypatch.setenv(LESSONS_VARIABLE, str(tmp_path))
    return tmp_path


def page_text(app) -> str:
    """Return all that the app says."""
    return "\n".join([*texts(app), *(element.value for element in app.markdown)])


def type_answer(app, number: int, answer: str):
    return app.text_input(key=f"lesson-typed-{number}").input(answer).run()


def test_answers_are_graded_by_the_model_and_resumed_from_their_link(serve, lessons, translator):
    trace = translator.trace(SENTENCE)
    row = trace.cross[0, 1, 0]
    best = trace.labels("cross").keys[int(row.argmax())].lstrip("▁")
    app = serve(text=SENTENCE, lesson="two", card="1")
    assert f"Here it is {best}" not in page_text(app)
    type_answer(app, 0, "nothing")
    assert in_url(app, "answers") == "nothing"
    words = TEXTS["en"]
    assert words["wrong"].split("{")[0] in page_text(app)
    assert f"Here it is {best}" in page_text(app).replace("\\", "")
    app.button(key="lesson-again-0").click().run()
    assert in_url(app, "answers") is None
    type_answer(app, 0, best.upper())
    assert words["right"].split("{")[0] in page_text(app)

    app.button(key="lesson-next").click().run()
    dog = float(row[1])
    type_answer(app, 1, f"{dog + 0.03:.3f}")
    assert words["wrong"].split("{")[0] in page_text(app)
    app.button(key="lesson-again-1").click().run()
    type_answer(app, 1, f"{dog + 0.01:.3f}".replace(".", ","))
    assert words["right"].split("{")[0] in page_text(app)

    app.button(key="lesson-next").click().run()
    app.radio(key="lesson-chosen-2").set_value(0).run()
    app.button(key="lesson-check-2").click().run()
    assert words["wrong"].split("{")[0] + "The" in page_text(app)
    answers = in_url(app, "answers")
    assert answers == SEPARATOR.join([best.upper(), f"{dog + 0.01:.3f}".replace(".", ","), "1"])

    resumed = serve(text=SENTENCE, lesson="two", card="3", answers=answers)
    assert resumed.radio(key="lesson-chosen-2").value == 0
    assert words["wrong"].split("{")[0] + "The" in page_text(resumed)
    resumed.button(key="lesson-end").click().run()
    assert [in_url(resumed, n) for n in ("lesson", "card", "answers")] == [None] * 3
    assert in_url(resumed, "text") == SENTENCE


def test_an_answer_can_be_shown_and_the_panel_speaks_german(serve, lessons):
    app = serve(text=SENTENCE, lesson="zwei", card="3")
    app.button(key="lesson-show-2").click().run()
    assert in_url(app, "answers") == SEPARATOR * 2 + SHOWN
    assert TEXTS["de"]["shown"].format(answer="The") in page_text(app)


def test_what_this_model_or_sentence_has_not_is_skipped_in_one_sentence(serve, lessons):
    app = serve(text=SENTENCE, lesson="two", card="4")
    skipped = TEXTS["en"]["skipped"].split("{")[0]
    assert skipped in page_text(app)
    assert not app.exception
    assert "lesson-sentence" not in [button.key for button in app.button]
    other = serve(text="Dog.", lesson="two", card="5")
    assert skipped in page_text(other)
    other.button(key="lesson-sentence").click().run()
    assert in_url(other, "text") == SENTENCE
    assert skipped not in page_text(other)


@pytest.mark.parametrize("card", ["0", "99", "x", "-1", "1e3", "\u0661"])
def test_any_number_opens_a_card(serve, lessons, card):
    app = serve(text=SENTENCE, lesson="two", card=card)
    number = 5 if card == "99" else 1
    assert TEXTS["en"]["card"].format(number=number, count=5) in texts(app)


def test_a_lesson_that_cannot_be_opened_is_named_and_the_page_stays(serve, lessons, monkeypatch):
    (lessons / "bad.md").write_text("---\ntitle: x\n---\n", "utf-8")
    app = serve(text=SENTENCE, lesson="bad")
    assert "bad.md, line 3" in page_text(app)
    assert "Look at" in texts(app)
    app.button(key="lesson-end").click().run()
    assert "lesson-end" not in [button.key for button in app.button]
    unknown = serve(text=SENTENCE, lesson="../../etc/passwd")
    assert "There is no such lesson" in page_text(unknown)
    monkeypatch.setenv(LESSONS_VARIABLE, str(lessons / "missing"))
    missing = serve(text=SENTENCE)
    assert any(LESSONS_VARIABLE in text for text in texts(missing))


def test_a_class_has_one_sentence(serve, lessons):
    app = serve(text=SENTENCE, lesson="two", **{"class": "1"})
    assert app.text_area(key="text").disabled
    assert not app.get("menu_button")
    assert not serve(text=SENTENCE, lesson="two").text_area(key="text").disabled


def test_each_card_says_when_the_page_shows_its_view(serve, lessons):
    opened = TEXTS["en"]["opened"]
    app = serve(text=SENTENCE, lesson="two", card="1")
    assert opened not in page_text(app)
    (link,) = (x for x in app.get("page_link") if "layer=1" in x.proto.query_string)
    assert link.proto.page == "heads"
    assert np.all([name in link.proto.query_string for name in ("kind=cross", "head=2", "text=")])
