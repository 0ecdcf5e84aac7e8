"""The HTML that a browser loads first has our scripts and styles, on every page."""

from __future__ import annotations

import pytest
import streamlit as st
from starlette.requests import Request

from viz.app.chrome import first_page
from viz.app.chrome.style import STYLE_SHEETS
from viz.app.links.navigation import TITLES


def test_ours_comes_first() -> None:
    html = first_page.html()
    assert "<title>Headlight</title>" in html
    streamlits = html.index('<script type="module"')
    for script in first_page.SCRIPTS:
        assert html.index(script.read_text("utf-8")) < streamlits
    places = [html.index(path.read_text("utf-8")) for path in STYLE_SHEETS]
    assert places == sorted(places)
    assert {*STYLE_SHEETS} == {*STYLE_SHEETS[0].parent.iterdir()}  # none is forgotten
    assert STYLE_SHEETS[-1].stem == "phone"


@pytest.mark.parametrize(("base", "prefix"), [("", "/"), ("/some/where/", "/some/where/")])
def test_it_answers_where_the_pages_are(
    base: str, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "get_option", lambda _: base)
    assert {route.path for route in first_page.routes()} == {
        f"{prefix}{path}" for path in ("", *TITLES)
    }


def test_the_first_page_is_found_by_its_name_too() -> None:
    (named,) = [route for route in first_page.routes() if route.path == "/translate"]
    asked = Request({"type": "http", "query_string": b"text=A+dog%26"})
    answer = named.endpoint(asked)
    assert answer.headers["location"] == "/?text=A+dog%26"
