"""Each path that a link can name is a page of the app, under the same title."""

import runpy
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from viz.app.links.address import LINKED
from viz.draw.labels import PAGE_TITLES

APP = Path(__file__).parents[4] / "app.py"


def test_the_app_has_a_page_for_each_path(monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[dict[str, object]] = []

    def navigation(sections: dict[str, list[dict[str, object]]], **_: object) -> None:
        for pages in sections.values():
            registered.extend(pages)
        assert {name: len(pages) for name, pages in sections.items()} == {
            "": 2,
            "Heads": 4,
            "The paper": 9,
        }
        raise StopIteration  # what follows draws a page

    monkeypatch.setattr(st, "Page", lambda show, **settings: {"show": show, **settings})
    monkeypatch.setattr(st, "navigation", navigation)
    with pytest.raises(StopIteration):
        runpy.run_path(str(APP), run_name="__main__")
    assert [page["url_path"] for page in registered if page["default"]] == ["translate"]
    assert {page["url_path"]: page["title"] for page in registered} == PAGE_TITLES


def test_a_link_leads_to_the_path_and_says_what_to_do() -> None:
    def page() -> None:
        from viz.app.links import navigation

        navigation.link("masks", "See the mask", {"kind": "cross", "Embed": "true"})

    app = AppTest.from_function(page).run()
    assert not app.exception
    (link,) = app.get("page_link")
    assert link.proto.label == "See the mask →"
    assert link.proto.page == "masks"
    assert link.proto.query_string == f"{LINKED}=&kind=cross"


@pytest.mark.parametrize(
    ("sentence", "title", "heading"),
    [
        ("", "All heads · Headlight", "All heads"),
        (
            "<b>&amp;</b>",
            "All heads · <b>&amp;</b> · Headlight",
            "All heads<span> · &lt;b&gt;&amp;amp;&lt;/b&gt;</span>",
        ),
    ],
)
def test_title_and_heading_name_page_and_sentence(sentence, title, heading, monkeypatch) -> None:
    titles: list[str] = []
    monkeypatch.setattr(st, "set_page_config", lambda page_title: titles.append(page_title))
    app = AppTest.from_function(_named, args=(sentence,)).run()
    assert not app.exception
    assert titles == [title]
    wanted = f'<h1 data-section="Heads">{heading}</h1>'
    assert app.get("html")[0].proto.body == wanted


def _named(sentence: str) -> None:
    import streamlit as st

    from viz.app.links import navigation

    navigation.set_page_title(st.container(), "heads", sentence)
