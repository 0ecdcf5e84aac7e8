"""The HTML that a browser loads first has our script before Streamlit's, on every page."""

from __future__ import annotations

import pytest
import streamlit as st

from viz.app import first_page
from viz.app.navigation import TITLES


def test_our_script_comes_first() -> None:
    html = first_page.html()
    assert "<title>Headlight</title>" in html
    ours = html.index(first_page.SCRIPT.read_text("utf-8"))
    assert ours < html.index('<script type="module"')


@pytest.mark.parametrize(("base", "prefix"), [("", "/"), ("/some/where/", "/some/where/")])
def test_it_answers_where_the_pages_are(
    base: str, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "get_option", lambda _: base)
    assert [route.path for route in first_page.routes()] == [
        f"{prefix}{path}" for path in ("", *TITLES)
    ]
