"""What is kept belongs to the trace that is on the page, and to no other."""

import streamlit as st

from benchmarks.made_trace import made_trace
from viz.app.once import once


def test_it_is_made_once_for_each_name_and_anew_for_another_trace(monkeypatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    first, second = made_trace(3, 1, 1, 0), made_trace(3, 1, 1, 1)
    made: list[str] = []

    def make(name: str) -> str:
        made.append(name)
        return name

    assert once(first, "a", lambda: make("a of first")) == "a of first"
    assert once(first, "a", lambda: make("again")) == "a of first"
    assert once(first, "b", lambda: make("b of first")) == "b of first"
    assert once(second, "a", lambda: make("a of second")) == "a of second"
    assert once(first, "a", lambda: make("a of first, later")) == "a of first, later"
    assert made == ["a of first", "b of first", "a of second", "a of first, later"]
