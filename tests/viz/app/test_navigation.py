"""Each path that a link can name is a page of the app, under the same title."""

import importlib
import runpy
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from viz.app.navigation import TITLES

APP = Path(__file__).parents[3] / "app.py"


def test_the_app_has_a_page_for_each_path(monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[dict[str, object]] = []

    def navigation(pages: list[dict[str, object]], **_: object) -> None:
        registered.extend(pages)
        raise StopIteration  # what follows draws a page

    monkeypatch.setattr(st, "Page", lambda show, **settings: {"show": show, **settings})
    monkeypatch.setattr(st, "navigation", navigation)
    with pytest.raises(StopIteration):
        runpy.run_path(str(APP), run_name="__main__")
    assert [page["url_path"] for page in registered if page["default"]] == ["translate"]
    assert {page["url_path"]: page["title"] for page in registered} == TITLES
    for page in registered:
        package = importlib.import_module(f"viz.pages.{page['url_path']}")
        assert page["show"] is package.show


def test_a_link_leads_to_the_path_and_says_why() -> None:
    def page() -> None:
        from viz.app import navigation

        navigation.link("masks", "who may see whom", {"kind": "cross"})

    app = AppTest.from_function(page).run()
    assert not app.exception
    (link,) = app.get("page_link")
    assert link.proto.label == "Masks: who may see whom"
    assert link.proto.page == "masks"
    assert link.proto.query_string == "kind=cross"
