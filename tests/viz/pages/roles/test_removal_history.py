"""Undo and redo, however the heads were switched."""

from __future__ import annotations

from viz.pages.roles.removal_history import MOST_STEPS, History


def test_undo_and_redo_walk_the_same_way_back_and_forth() -> None:
    history = History()
    for text in ("", "c0.0", "c0.0", "c0.0,c0.1"):  # what is seen again is no step
        history.see(text)
    assert [history.undo(), history.undo(), history.undo()] == ["c0.0", "", ""]
    assert [history.redo(), history.redo(), history.redo()] == ["c0.0", "c0.0,c0.1", "c0.0,c0.1"]
    history.undo()
    history.see("c0.0")  # the run after the undo
    assert history.undone == ["c0.0,c0.1"]
    history.see("e0.0")  # something else: there is nothing to redo any more
    assert not history.undone
    assert history.undo() == "c0.0"


def test_it_remembers_so_many_steps() -> None:
    history = History()
    for number in range(MOST_STEPS + 9):
        history.see(str(number))
    assert len(history.before) == MOST_STEPS
