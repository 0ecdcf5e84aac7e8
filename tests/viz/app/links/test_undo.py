"""Undo and redo: what is one step, and what a new step leaves of the undone ones."""

from viz.app.sentence.search_request import MAX_STEPS, PAUSE, History


def test_steps_are_undone_and_redone_until_something_new_is_done() -> None:
    history: History[str] = History()
    for n, state in enumerate(("a", "b", "b", "c")):
        history.see(state, n)
    assert [history.undo() for _ in range(4)] == ["b", "a", "a", "a"]
    assert [history.redo() for _ in range(2)] == ["b", "c"]
    assert history.undo() == "b"
    history.see("b", 9)  # the run after the undo shows it
    assert history.redo() == "c"
    history.undo()
    history.see("d", 10)
    assert history.redo() == "d"
    assert history.undo() == "b"


def test_letters_that_follow_one_another_are_one_step() -> None:
    history: History[str] = History()
    history.see("", 0)
    for n, text in enumerate(("E", "Ei", "Ein")):
        history.see(text, 1 + n * PAUSE / 2, "text")
    history.see("Ein H", 20, "text")  # after a pause
    history.see("Ein H!", 20.1, "german")  # in another field
    assert [history.undo() for _ in range(3)] == ["Ein H", "Ein", ""]
    history.see("x", 20.2, "german")  # what is typed after an undo is a step of its own
    assert history.undo() == ""


def test_it_does_not_grow_for_ever() -> None:
    history: History[int] = History()
    for n in range(MAX_STEPS + 10):
        history.see(n, n)
    assert len(history.before) == MAX_STEPS
