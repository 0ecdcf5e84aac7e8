"""Saved views: a list in the session, and the lesson file that it becomes."""

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
    lesson = reading.parse_lesson("views", writing.lesson_file("Title: “a” # b", views), "views.md")
    assert lesson.title == "Title: “a” # b"
    assert [card.title for card in lesson.cards] == [view.name for view in views]
    assert [card.view for card in lesson.cards] == [view.view for view in views]
    assert not any(card.choices for card in lesson.cards)
