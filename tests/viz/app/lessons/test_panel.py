"""A lesson beside the pages: its cards, answers and place, all of them in the address."""

from urllib.parse import parse_qs

import pytest
from streamlit.runtime.context import ContextProxy

from tests.viz.app_test import in_url, texts
from transformer.files import installed
from viz.app.lessons import library, panel
from viz.app.lessons.library import LESSONS_VARIABLE
from viz.app.lessons.progress import Progress, card_view
from viz.lessons import View, measures, read_lesson
from viz.lessons.answers import GivenAnswer, Try, read_answers, write_answers
from viz.lessons.texts import TEXTS
from viz.lessons.tries import SHOWN, read_tries, write_tries

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


def given(app, lessons, name="two") -> list[list[str]]:
    """Return what the address has of each card of a lesson, in order."""
    tries = read_tries(in_url(app, "answers") or "")
    return [list(tries.get(task, ())) for task in read_lesson(lessons / f"{name}.md").tasks]


def type_answer(app, number: int, answer: str):
    return app.text_input(key=f"lesson-typed-{number}").input(answer).run()


def test_answers_are_graded_by_the_model_and_resumed_from_their_link(serve, lessons, translator):
    trace = translator.trace(SENTENCE)
    row = trace.cross[0, 1, 0]
    best = trace.labels("cross").keys[int(row.argmax())].lstrip("▁")
    app = serve(text=SENTENCE, lesson="two", card="1")
    assert f"Here it is {best}" not in page_text(app)
    type_answer(app, 0, "nothing")
    assert given(app, lessons)[0] == ["nothing"]
    words = TEXTS["en"]
    assert words["wrong"] in page_text(app)
    assert "darkest square" in page_text(app)
    assert f"Here it is {best}" not in page_text(app).replace("\\", "")
    app.button(key="lesson-show-0").click().run()
    assert f"Here it is {best}" in page_text(app).replace("\\", "")
    app.button(key="lesson-again-0").click().run()
    type_answer(app, 0, best.upper())
    assert given(app, lessons)[0] == ["nothing", SHOWN, best.upper()]
    assert words["right"].split("{")[0] in page_text(app)
    assert words["uncounted"] in page_text(app)

    app.button(key="lesson-next").click().run()
    dog = float(row[1])
    for nothing, asked in (("seven", "number"), ("  ", "blank"), ("2 dogs", "number")):
        type_answer(app, 1, nothing)
        assert words[asked] in page_text(app)
        assert words["wrong"] not in page_text(app)
    type_answer(app, 1, f"{dog + 0.03:.3f}")
    assert words["wrong"] in page_text(app)
    assert words["look"] in page_text(app)  # nothing is highlighted on this card
    app.button(key="lesson-again-1").click().run()
    type_answer(app, 1, f"{dog + 0.01:.3f}".removeprefix("0"))
    assert words["right"].split("{")[0] in page_text(app)
    assert words["uncounted"] not in page_text(app)

    app.button(key="lesson-next").click().run()
    app.radio(key="lesson-chosen-2").set_value(0).run()
    app.button(key="lesson-check-2").click().run()
    assert words["wrong"] in page_text(app)
    answers = in_url(app, "answers")
    tries = [f"{dog + 0.03:.3f}", f"{dog + 0.01:.3f}".removeprefix("0")]
    assert given(app, lessons)[1:3] == [tries, ["1"]]

    resumed = serve(text=SENTENCE, lesson="two", card="3", answers=answers)
    assert resumed.radio(key="lesson-chosen-2").value == 0
    assert words["wrong"] in page_text(resumed)
    last = serve(text=SENTENCE, lesson="two", card="6", answers=answers)
    score = words["score"].format(right=1, count=6)  # the first was shown, the third is wrong
    assert score not in page_text(last)
    last.button(key="lesson-show-5").click().run()
    assert score in page_text(last)
    assert words["at_once"].format(right=0) in page_text(last)
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
    assert "bad.md" not in page_text(serve(text=SENTENCE))  # whose menu students see
    assert app.get("bidi_component")
    app.button(key="lesson-end").click().run()
    assert "lesson-end" not in [button.key for button in app.button]
    unknown = serve(text=SENTENCE, lesson="../../etc/passwd")
    assert "There is no such lesson" in page_text(unknown)
    monkeypatch.setenv(LESSONS_VARIABLE, str(lessons / "missing"))
    assert any(LESSONS_VARIABLE in problem for problem in library.read_offered().problems)
    monkeypatch.setenv(LESSONS_VARIABLE, "")
    assert not library.read_offered().problems


def test_one_bad_file_is_read_and_told_once_and_takes_no_page_from_anybody(lessons, monkeypatch):
    (lessons / "worse.md").write_text("---\ntitle: x\n---\n", "utf-8")
    read: list[str] = []
    messages: list[str] = []
    monkeypatch.setattr(library._LOG, "warning", messages.append)

    def counting(path):
        read.append(path.name)
        if path.name == "worse.md":
            raise OverflowError
        return read_lesson(path)

    monkeypatch.setattr(library, "read_lesson", counting)
    for _ in range(2):
        assert any("worse.md " in text for text in library.read_offered().problems)
    assert read.count("worse.md") == 1
    assert sum("worse.md " in text for text in messages) == 1


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
    assert not is_lit(own)  # first an answer, then the view
    assert hidden(own)
    own.button(key="lesson-show-5").click().run()
    assert is_lit(own)
    assert not hidden(own)
    assert given(own, lessons, "zwei") == [[], [], [], [], [], [SHOWN]]
    assert TEXTS["de"]["shown"].split("{")[0] in page_text(own)


def links(app) -> dict[str, dict[str, list[str]]]:
    """Return the pages and choices that the links of the panel open, by their labels."""
    return {
        link.proto.label: {"page": [link.proto.page], **parse_qs(link.proto.query_string)}
        for link in app.get("page_link")
    }


def hidden(app) -> list[bool]:
    """Return True for each mark by which the style sheet hides the pictures."""
    return [True for element in app.get("html") if "data-predict" in element.proto.body]


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
    right = {}
    for number, text in ((0, lesson.sentence), (6, own.trace.source)):
        trace = translator.trace(text)
        pieces = trace.source_pieces if number == 0 else trace.target_pieces
        right[number] = str(len(pieces))
    tries = {lesson.tasks[0]: ["99", "", right[0]], lesson.tasks[6]: [right[6]]}
    tries |= {lesson.tasks[4]: ["3", SHOWN, "2"], "other": ["1"]}
    wrong, shown = Try("German both", False), Try("English both", True)
    source = own.trace.source
    marked = panel.marked_answers(lesson, Progress(lesson.name, 6, tries), own, "Eva")
    assert marked.answers == (
        GivenAnswer(lesson.tasks[0], right[0], (Try("99", False), Try(right[0], True)), False),
        GivenAnswer(lesson.tasks[4], "English both", (wrong, shown), True),
        GivenAnswer(lesson.tasks[6], right[6], (Try(right[6], True),), False),
    )
    assert (marked.right, marked.at_once) == (2, 1)
    path = tmp_path / "answers.json"
    path.write_bytes(write_answers(marked))
    assert read_answers(path) == marked
    assert (marked.lesson_sha256, marked.sentence) == (lesson.checksum, source)


def test_answers_belong_to_their_lesson_and_are_kept_where_it_is_closed(serve, lessons):
    tasks = {name: read_lesson(lessons / f"{name}.md").tasks for name in ("two", "zwei")}
    old = {name: write_tries({tasks[name][2]: ["1"]}, 99) for name in tasks}
    app = serve(text=SENTENCE, lesson="two", card="3", answers=old["two"])
    assert TEXTS["en"]["wrong"] in page_text(app)
    # as the menu opens it: the address still has the answers to the last lesson
    for name, card in {"lesson": "zwei", "card": "3"}.items():
        app.query_params[name] = card
    app.run()
    assert in_url(app, "answers") is None
    assert TEXTS["de"]["wrong"] not in page_text(app)
    app.button(key="lesson-end").click().run()
    for name, card in {"lesson": "two", "card": "3"}.items():
        app.query_params[name] = card
    app.run()
    assert in_url(app, "answers") == old["two"]
    assert TEXTS["en"]["wrong"] in page_text(app)


def test_back_takes_no_answer_from_a_reader(serve, lessons):
    app = serve(text=SENTENCE, lesson="two", card="3")
    app.radio(key="lesson-chosen-2").set_value(0).run()
    app.button(key="lesson-check-2").click().run()
    before = in_url(app, "answers")
    app.button(key="lesson-show-2").click().run()
    app.query_params["answers"] = before  # as Back does
    app.run()
    assert TEXTS["en"]["shown"].split("{")[0] in page_text(app)
    assert in_url(app, "answers") == before  # the browser's entry stays as it was
    app.button(key="lesson-again-2").click().run()
    app.radio(key="lesson-chosen-2").set_value(1).run()
    app.button(key="lesson-check-2").click().run()
    assert given(app, lessons)[2] == ["1", SHOWN, "2"]
    assert TEXTS["en"]["uncounted"] in page_text(app)


def test_back_opens_the_view_beside_which_a_card_without_one_was_read(serve, lessons):
    app = serve(text=SENTENCE, lesson="two", card="3")
    view = links(app)[TEXTS["en"]["back"]]
    assert (view["card"], view["page"], view["head"]) == (["2"], ["heads"], ["2"])


def test_the_lessons_of_a_teacher_are_first_in_the_menu(serve, lessons):
    own, *_ = [view for view in links(serve(text=SENTENCE)).values() if "lesson" in view]
    assert own["lesson"][0] in ("two", "zwei")  # in both languages they have one label


def test_answers_stay_where_the_words_of_a_lesson_are_mended(serve, lessons):
    path = lessons / "two.md"
    answers = write_tries({read_lesson(path).tasks[2]: ["1"]}, 99)
    text = path.read_text("utf-8").replace("Two cards", "Some cards").replace("[ ] dog", "[ ] dogs")
    path.write_text(text.replace("## Where", "## A new card\n\n## Where"), "utf-8")
    app = serve(text=SENTENCE, lesson="two", card="4", answers=answers)
    assert TEXTS["en"]["wrong"] in page_text(app)
    path.write_text(text.replace("[ ] dogs\n- [x]", "[x] dogs\n- [ ]"), "utf-8")
    other = serve(text=SENTENCE, lesson="two", card="3", answers=answers)
    assert TEXTS["en"]["wrong"] not in page_text(other)


def test_a_class_gets_a_link_to_the_first_view_under_the_address_of_the_server(
    serve, lessons, monkeypatch
):
    def shown(url, **query):
        monkeypatch.setattr(ContextProxy, "url", url)
        app = serve(text=SENTENCE, lesson="two", card="1", **query)
        return [code.value for code in app.code if "class=1" in code.value], page_text(app)

    alone = TEXTS["en"]["alone"].split("{host}")[1]
    (link,), page = shown("http://192.168.1.5:8501/base/translate")
    assert link == (
        "http://192.168.1.5:8501/base/heads?kind=cross-attention&layer=1&head=2&lesson=two&class=1"
    )
    assert alone not in page
    assert alone in shown("http://localhost:8501/")[1]
    assert not shown("http://192.168.1.5:8501/", **{"class": "1"})[0]


def test_a_teacher_sets_a_clock_and_locks_the_answers(serve, lessons, monkeypatch):
    monkeypatch.setattr(ContextProxy, "url", property(lambda _: "http://192.168.1.5:8501/"))
    app = serve(text=SENTENCE, lesson="two", card="1")
    app.number_input(key="lesson-minutes").set_value(12)
    app.checkbox(key="lesson-lock").check().run()
    (link,) = [code.value for code in app.code if "class=1" in code.value]
    chosen = {name: values[-1] for name, values in parse_qs(link.partition("?")[2]).items()}
    assert (chosen["minutes"], chosen["locked"]) == ("12", "1")

    def shown(**query):
        app = serve(text=SENTENCE, lesson="two", card="1", **query)
        clocks = [html for html in app.get("html") if "data-clock" in html.proto.body]
        return len(clocks), [b.key for b in app.button if b.key and "lesson-show" in b.key]

    assert shown() == (0, ["lesson-show-0"])
    assert shown(minutes="12", locked="1") == (1, [])
    assert shown(minutes="12<b>", locked="0") == (0, ["lesson-show-0"])


def test_the_files_of_a_class_are_for_the_teacher(serve, lessons):
    for query, offered in ({}, True), ({"class": "1"}, False):
        app = serve(text=SENTENCE, lesson="two", card="1", **query)
        assert ("lesson-collect" in [button.key for button in app.button]) == offered


def test_a_choice_that_is_a_sentence_ends_once(serve, lessons):
    path = lessons / "two.md"
    words = TEXTS["en"]["shown"]
    for choice, end in (("The", "The."), ("It is.", r"is\."), ("“It is!”", r"is\!”")):
        text = LESSON.format(language="en", sentence=SENTENCE)
        path.write_text(text.replace("[x] The", f"[x] {choice}"), "utf-8")
        tasks = read_lesson(path).tasks
        answers = write_tries({tasks[2]: [SHOWN]}, 99)
        app = serve(text=SENTENCE, lesson="two", card="3", answers=answers)
        (said,) = [m.value for m in app.markdown if m.value.startswith(f"**{words[:3]}")]
        assert said.endswith(f"{end}**")
