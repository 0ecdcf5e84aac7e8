"""A lesson beside the pages: its cards, answers and place, all of them in the address."""

from urllib.parse import parse_qs

import pytest

from tests.viz.app_test import in_url, texts
from transformer.files import installed
from viz.app.lessons import library, panel
from viz.app.lessons.library import LESSONS_VARIABLE
from viz.app.lessons.progress import SEPARATOR, SHOWN, Progress, card_view
from viz.lessons import View, measures, read_lesson
from viz.lessons.answers import GivenAnswer, read_answers, write_answers
from viz.lessons.texts import TEXTS

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
link: /heads?kind=cross-attention&layer=1&head=2
light: map
ask: Which subword gets most?
answer: {{measure: strongest, head: L1 H2 cross, row: 1}}
hint: Look at the darkest square.
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

## Your own

```yaml
link: /translate
open: after
light: links
sentence: own
ask: How many subwords does the model write?
answer: {{measure: subwords, side: target}}
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
    assert words["wrong"] in page_text(app)
    assert "darkest square" in page_text(app)
    assert f"Here it is {best}" not in page_text(app).replace("\\", "")
    app.button(key="lesson-show-0").click().run()
    assert f"Here it is {best}" in page_text(app).replace("\\", "")
    app.button(key="lesson-again-0").click().run()
    assert in_url(app, "answers") is None
    type_answer(app, 0, best.upper())
    assert words["right"].split("{")[0] in page_text(app)

    app.button(key="lesson-next").click().run()
    dog = float(row[1])
    type_answer(app, 1, f"{dog + 0.03:.3f}")
    assert words["wrong"] in page_text(app)
    assert words["hint"] in page_text(app)
    app.button(key="lesson-again-1").click().run()
    type_answer(app, 1, f"{dog + 0.01:.3f}".replace(".", ","))
    assert words["right"].split("{")[0] in page_text(app)

    app.button(key="lesson-next").click().run()
    app.radio(key="lesson-chosen-2").set_value(0).run()
    app.button(key="lesson-check-2").click().run()
    assert words["wrong"] in page_text(app)
    answers = in_url(app, "answers")
    assert answers == SEPARATOR.join([best.upper(), f"{dog + 0.01:.3f}".replace(".", ","), "1"])

    resumed = serve(text=SENTENCE, lesson="two", card="3", answers=answers)
    assert resumed.radio(key="lesson-chosen-2").value == 0
    assert words["wrong"] in page_text(resumed)
    last = serve(text=SENTENCE, lesson="two", card="6", answers=answers)
    assert words["score"].format(right=2, count=6) in page_text(last)
    resumed.button(key="lesson-end").click().run()
    assert [in_url(resumed, n) for n in ("lesson", "card", "answers")] == [None] * 3
    assert in_url(resumed, "text") == SENTENCE


def test_what_this_model_or_sentence_has_not_is_skipped_in_one_sentence(serve, lessons):
    app = serve(text=SENTENCE, lesson="two", card="4")
    skipped = TEXTS["en"]["skipped"].split("{")[0]
    assert skipped in page_text(app)
    assert not app.exception
    assert "lesson-sentence" not in [button.key for button in app.button]
    other = serve(text="Dog.", lesson="two", card="5")
    assert TEXTS["en"]["first"].split("{")[0] in page_text(other)
    assert not [field for field in other.text_input if field.key.startswith("lesson-typed")]
    other.button(key="lesson-sentence").click().run()
    assert in_url(other, "text") == SENTENCE
    assert TEXTS["en"]["first"] not in page_text(other)


def test_a_lesson_that_cannot_be_opened_is_named_and_the_page_stays(serve, lessons, monkeypatch):
    (lessons / "bad.md").write_text("---\ntitle: x\n---\n", "utf-8")
    app = serve(text=SENTENCE, lesson="bad")
    assert "bad.md, line 3" in page_text(app)
    assert app.get("bidi_component")
    app.button(key="lesson-end").click().run()
    assert "lesson-end" not in [button.key for button in app.button]
    unknown = serve(text=SENTENCE, lesson="../../etc/passwd")
    assert "There is no such lesson" in page_text(unknown)
    monkeypatch.setenv(LESSONS_VARIABLE, str(lessons / "missing"))
    assert any(LESSONS_VARIABLE in problem for problem in library.offered().problems)
    monkeypatch.setenv(LESSONS_VARIABLE, "")
    assert not library.offered().problems


def test_one_bad_file_is_read_once_and_takes_no_page_from_anybody(lessons, monkeypatch):
    (lessons / "worse.md").write_text("---\ntitle: x\n---\n", "utf-8")
    read = []

    def counting(path):
        read.append(path.name)
        if path.name == "worse.md":
            raise OverflowError
        return read_lesson(path)

    monkeypatch.setattr(library, "read_lesson", counting)
    for _ in range(2):
        assert any("worse.md " in text for text in library.offered().problems)
    assert read.count("worse.md") == 1


def opened_page() -> None:
    import streamlit as st

    from viz.app.lessons.progress import is_open
    from viz.lessons import View

    view = View("inside", {"word": ["4"], "pairs": ["256 · 2000"]})
    st.text(str(is_open(view, "inside")))


@pytest.mark.parametrize(
    ("word", "curve", "expected"),
    [
        ("4 run", "256 · 2000", True),
        ("4", "256 · 2000", True),
        ("3 dogs", "256 · 2000", False),
        ("14 run", "256 · 2000", False),
        ("4 run", "256 · 4000", False),
    ],
)
def test_a_view_whose_link_has_the_number_of_a_step_alone_is_open(serve, word, curve, expected):
    app = serve(opened_page, word=word, pairs=curve)
    assert app.text[0].value == str(expected)


def test_a_class_has_one_sentence(serve, lessons):
    app = serve(lesson="two", **{"class": "1"})
    box = app.text_area(key="text")
    assert (box.value, box.disabled, [*app.get("menu_button")]) == (SENTENCE, True, [])
    assert not is_lit(app)
    own = serve(text="Dog.", lesson="zwei", card="6", **{"class": "1"})
    assert (own.text_area(key="text").value, own.text_area(key="text").disabled) == ("Dog.", False)
    assert is_lit(own)
    own.button(key="lesson-show-5").click().run()
    assert in_url(own, "answers") == SEPARATOR * 5 + SHOWN
    assert TEXTS["de"]["shown"].split("{")[0] in page_text(own)


def links(app) -> dict[str, dict[str, list[str]]]:
    """Return the pages and choices that the links of the panel open, by their labels."""
    return {
        link.proto.label: {"page": [link.proto.page], **parse_qs(link.proto.query_string)}
        for link in app.get("page_link")
    }


def is_lit(app) -> bool:
    return any("data-light" in element.proto.body for element in app.get("html"))


def test_next_opens_the_view_of_a_card_with_its_head_and_sentence(serve, lessons):
    words = TEXTS["en"]
    app = serve(text="Dog.", lesson="two", card="2")
    view = links(app)[words["back"]]
    assert view == {
        "page": ["heads"], "lesson": ["two"], "card": ["1"], "text": [SENTENCE],
        "kind": ["cross-attention"], "layer": ["1"], "head": ["2"],
    }  # fmt: skip
    lesson = read_lesson(lessons / "two.md")
    shown = {name: view[name] for name in ("kind", "layer", "head", "text")}
    assert card_view(lesson, lesson.cards[0], "translate") == View("heads", shown)
    # the last card is for the reader to predict, and has no way on
    five = serve(text="Dog.", lesson="two", card="5")
    five.button(key="lesson-next").click().run()
    assert (in_url(five, "card"), in_url(five, "text")) == ("6", "Dog.")


def test_an_answer_is_marked_on_the_sentence_of_its_card(translator, tmp_path):
    lesson = read_lesson(installed.ASSETS / "lessons" / "attention.en.md")
    own = measures.Sentence(translator, translator.trace("The dog sleeps."))
    given, right = [], {}
    for number, text in ((0, lesson.sentence), (6, own.trace.source)):
        trace = translator.trace(text)
        pieces = trace.source_pieces if number == 0 else trace.target_pieces
        right[number] = str(len(pieces))
    given = [right[0], "", "", "", "", "", right[6]]
    place = Progress(lesson.name, 6, tuple(given))
    source = own.trace.source
    marked = panel.marked_answers(lesson, place, own, "Eva")
    for number, text in right.items():
        assert marked.answers[number] == GivenAnswer(text, text, True)
    assert marked.right == 2
    path = tmp_path / "answers.json"
    path.write_bytes(write_answers(marked))
    assert read_answers(path) == marked
    assert (marked.lesson_sha256, marked.sentence) == (lesson.checksum, source)
