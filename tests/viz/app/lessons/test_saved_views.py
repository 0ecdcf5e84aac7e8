"""Saved views: a list in the session, and the lesson file that it becomes."""

from html import escape

import pytest
from markdown_it import MarkdownIt

from viz.lessons import reading, writing
from viz.lessons.lesson import View

SENTENCE = "The dog sleeps in the garden."


def test_a_view_is_saved_with_all_choices_and_opens_from_its_lesson(serve):
    app = serve(text=SENTENCE, beam="2", lesson="none", present="1")
    app.text_input(key="view-name").input("A <b>name</b>").run()
    app.text_input(key="view-sentence").input("1. one [sentence](x)").run()
    app.button(key="save-view").click().run()
    app.button(key="save-view").click().run()
    first, second = app.session_state["saved_views"]
    assert first.view.page == "translate"
    assert first.view.choices == {"text": [SENTENCE], "beam": ["2"]}
    assert second.name == "Translate 2"
    app.button(key="view-remove-1").click().run()
    assert [view.name for view in app.session_state["saved_views"]] == ["A <b>name</b>"]


def test_a_list_of_views_is_read_back_exactly():
    views = [
        writing.SavedView("A <b>name</b> # ~ $x$", "1. one [sentence](x) & *two*", View("heads", {
            "text": ["ä & b=c? “x” ~ \u202e"], "kinds": ["encoder", "cross"], "removed": [""],
        })),
        writing.SavedView("- [x] choice", "", View("schedule", {})),
        writing.SavedView("---", "```yaml", View("masks", {"kind": ["decoder"]})),
    ]  # fmt: skip
    views += [writing.SavedView("n" * 80, "t" * 300, View("heads", {"text": ["x" * 7_000]}))] * 37
    lesson = reading.parse_lesson("views", writing.lesson_file(views, "de"), "views.md")
    assert (lesson.language, lesson.title) == ("de", "Gespeicherte Ansichten")
    assert [card.title for card in lesson.cards] == [view.name for view in views]
    assert [card.view for card in lesson.cards] == [view.view for view in views]
    assert {(card.ask, len(card.choices)) for card in lesson.cards} == {("Was siehst du hier?", 2)}
    shown = [MarkdownIt("commonmark").render(card.text) for card in lesson.cards[:3]]
    assert shown[0] == "<p>1. one [sentence](x) &amp; *two*</p>\n"
    assert "\\?" not in writing.lesson_file([views[0]._replace(name="Why? A, b.")], "en")


@pytest.mark.parametrize("text", ["- a", "+ a", "= a", "12) a", "# a", ":smile: <b>", "a@b.de"])
def test_a_note_is_text_and_no_markdown(text):
    html = MarkdownIt("commonmark").render(writing.plain_markdown(text))
    assert html == f"<p>{escape(text)}</p>\n"
    assert "\\" in writing.plain_markdown(text)
