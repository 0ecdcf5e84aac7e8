"""Choices that a page reads from the address: no number that is none, and those of other pages."""

import ast
import re
from html import escape
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import ROOT, in_url, open_app, texts
from tests.viz.draw.message import decode
from viz.app import streamlit_internals
from viz.app.links import address
from viz.app.links.address import FREE_TEXTS, MAX_QUERY, MAX_TYPED, clean, longest
from viz.app.models.menu import CHECKPOINT_VARIABLE
from viz.app.sentence import search_request
from viz.draw.labels import PAGE_TITLES

SENTENCE = "The dog sleeps in the garden."
WRITES = "pop|popitem|update|clear|setdefault|from_dict"


@pytest.fixture
def visit(trained_folder: Path):
    """Open a page of the app, or walk to it from another one, at a query as a browser sends it."""
    # not the test's own patch, which `_remembers_no_other_code` looks for
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CHECKPOINT_VARIABLE, str(trained_folder))
        yield open_app


def head(app: AppTest) -> tuple[str | None, ...]:
    kind = app.session_state["kind"]
    return kind, app.selectbox(key="layer").value, app.selectbox(key="head").value


def test_a_number_that_none_is_is_taken_out_wherever_it_stands() -> None:
    asked = {
        "steps": ["Infinity"],
        "arch_N": ["-1e999", "NaN", "9" * 400],
        "layers": ["1", "inf", "2"],
        "runs": ["x" * 300, "~nosuchuser"],
        "text": ["Infinity"],
        "others": [""],
        "$$ID-x": ["1"],  # a name that Streamlit reserves
    }
    assert clean(asked) == {
        "layers": ["1", "2"],
        "runs": ["x" * 300, "~nosuchuser"],
        "text": ["Infinity"],
        "others": [""],
    }


@pytest.mark.parametrize(
    ("page", "view", "name"),
    [
        ("heads", {"view": "compare", "with": "another sentence"}, "text2"),
        ("translate", {}, "edited"),
    ],
)
def test_a_text_of_a_link_that_is_too_long_is_refused_and_the_page_says_so(
    visit, page: str, view: dict[str, str], name: str
) -> None:
    most = longest(name)
    asked = {"text": SENTENCE, **view}
    app = visit(page, **{**asked, name: "a" * (most + 1)})
    (field,) = [widget for widget in (*app.text_input, *app.text_area) if widget.key == name]
    assert field.proto.max_chars == (MAX_TYPED if name in ("text", "edited") else most)
    assert field.value == field.proto.default
    assert in_url(app, name) is None
    notices = [text for text in texts(app) if f"“{name}” has more than {most:,} characters" in text]
    assert len(notices) == 1
    app = visit(page, **{**asked, name: "a" * most})
    (field,) = [widget for widget in (*app.text_input, *app.text_area) if widget.key == name]
    assert field.value == "a" * most
    assert not [text for text in texts(app) if "characters and was not read" in text]


def test_a_link_of_megabytes_is_not_read_at_all(visit, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []

    def parse(query: str, **options: Any) -> dict[str, list[str]]:
        parsed.append(len(query))
        return parse_qs(query, **options)

    monkeypatch.setattr(address, "parse_qs", parse)
    app = visit("roles", roles_view="Remove heads", removed="L1 H1 cross," * 20_000)
    assert max(parsed) <= MAX_QUERY
    assert "removed" not in app.session_state
    assert [text for text in texts(app) if f"more than {MAX_QUERY:,} characters" in text]


def open_raw(visit, monkeypatch: pytest.MonkeyPatch, query: str, **url: str) -> AppTest:
    """Open *All heads* at a query that stands in the address as it is here."""
    sent = [query]  # AppTest would code it anew; later runs have what the page wrote
    own = streamlit_internals.query_string
    monkeypatch.setattr(streamlit_internals, "query_string", lambda: sent.pop() if sent else own())
    return visit("heads", **url)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("kind=encoder&amp;text=A+dog+%26+a+cat.&amp;layer=2&amp;head=3", "A dog & a cat."),
        ("kind=encoder&amp;amp;layer=2&amp;amp;head=3&amp;text=A+dog%26amp;", "A dog&amp;"),
        ("kind=encoder&layer=2&text=M%E4nner+%80+M%C3%A4nner&head=3", "Männer € Männer"),
        ("kind=encoder&text=Two%2520dogs%2520%2526%2520M%25C3%25A4nner&layer=2&head=3",
         "Two dogs & Männer"),
        ("kind=encoder&text=5%25+%2520+of+3&layer=2&head=3", "5% %20 of 3"),
        ("text=Rome+2020.&kind=encoder&layer=2&head=3).", "Rome 2020."),
        ("kind=encoder&layer=2&head=3&text=2020.", "2020."),
    ],
    ids=["html", "html twice", "latin-1", "coded twice", "once", "sentence", "full stop"],
)  # fmt: skip
def test_a_link_that_came_by_mail_is_read_as_it_was_sent(
    visit, monkeypatch: pytest.MonkeyPatch, query: str, text: str
) -> None:
    app = open_raw(visit, monkeypatch, query)
    assert app.text_area(key="text").value == in_url(app, "text") == text
    assert head(app) == ("encoder", "2", "3")


def test_what_is_typed_is_not_decoded(visit) -> None:
    app = visit("heads", text=SENTENCE)
    app.text_area(key="text").set_value("a%20b")
    app.query_params["text"] = "a%20b"  # as a browser does
    app.run()
    assert app.text_area(key="text").value == in_url(app, "text") == "a%20b"


def test_the_head_of_a_link_goes_from_page_to_page(visit) -> None:
    app = visit("heads", text=SENTENCE, kind="decoder", layer="1", head="2")
    assert head(app) == ("decoder", "1", "2")
    visit("inside", app)  # nothing has been clicked between
    assert head(app) == ("decoder", "1", "2")
    visit("architecture", app)
    assert app.selectbox(key="arch_layer").value == "1"
    app.selectbox(key="arch_layer").set_value("2").run()
    visit("hooks", app)
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == ("2", "2")
    visit("translate", app)
    assert in_url(app, "layer") is None  # what this page has no use for is not in its address
    visit("heads", app)
    assert head(app) == ("decoder", "2", "2")
    visit("masks", app)
    assert app.session_state["kind"] == "decoder"


def test_the_row_of_a_link_is_marked_though_another_map_was_open(visit) -> None:
    app = visit("heads", text=SENTENCE, kind="encoder")
    app.query_params.clear()
    url = {"text": SENTENCE, "kind": "cross-attention", "heads-map-row": "2"}
    visit("heads", app, linked="", **url)  # as a finding's link
    assert in_url(app, "heads-map-row") == "2"
    maps = [decode(c.proto.bytes)[0] for c in app.get("bidi_component")]
    shown = [(m["kind"], m["pinned"]) for m in maps if m["component"] == "attention_map"]
    assert shown == [("cross", 1)]


def test_a_link_says_more_than_what_was_chosen(visit) -> None:
    app = visit("inside", text=SENTENCE, kind="decoder", layer="1", head="2")
    # a browser sends what the link says after what the page left has in the address
    app.query_params["kind"] = ["decoder", "cross-attention"]
    app.query_params["head"] = ["2", "4"]
    visit("heads", app)
    assert head(app) == ("cross-attention", "1", "4")
    assert app.query_params["head"] == "4"


def test_a_page_is_found_as_it_was_left(visit) -> None:
    link = {"arch_box": "What the decoder reads", "arch_layer": "2"}
    app = visit("architecture", text=SENTENCE, n="Infinity", **link)
    named = [html.proto.body for html in app.get("html") if "data-address" in html.proto.body]
    query = escape(urlencode({"text": SENTENCE, **link}))
    assert [body.split(" data-at")[0] for body in named] == [
        f'<i data-address="/architecture?{query}" data-restored="False"'
    ]
    visit("schedule", app)
    assert set(app.query_params) == {"text"}
    visit("architecture", app)
    assert app.selectbox(key="arch_box").value == link["arch_box"]
    assert in_url(app, "arch_box") == link["arch_box"]


def test_another_sentence_drops_what_was_chosen_on_the_last(visit) -> None:
    chosen = {"step": "3", "numbers": "cross-1-1-1-1", "break": "2", "arch-map-row": "2"}
    app = visit("schedule", text=SENTENCE, **chosen, removed="L1 H1")
    visit("schedule", app)  # at the same address
    assert {name: in_url(app, name) for name in chosen} == chosen
    app.text_area(key="text").set_value("A cat.").run()
    assert [in_url(app, name) for name in (*chosen, "removed")] == [None] * 4 + ["L1 H1"]


def test_without_a_checkpoint_every_page_is_alive(visit, monkeypatch) -> None:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, "no/such/_*x*_")
    app = None
    for page in PAGE_TITLES:
        app = visit(page, app)  # where nothing is raised
        assert "There is no checkpoint folder no/such/_*x*_." in texts(app)


def test_rows_and_the_switch_without_sinks_are_kept_across_pages(visit) -> None:
    app = visit("heads", text=SENTENCE, kind="cross-attention")
    assert in_url(app, "without_sinks") is None
    # of a model whose links were never measured
    assert app.button_group(key="rows").value == "word predicted"
    app.button_group(key="rows").set_value("word read").run()
    app.toggle(key="without_sinks").set_value(True).run()
    visit("masks", app)
    for name in ("rows", "without_sinks"):
        assert in_url(app, name) is None
        assert name not in app.session_state
    visit("heads", app)
    assert app.toggle(key="without_sinks").value
    assert in_url(app, "without_sinks") == "true"
    assert app.button_group(key="rows").value == in_url(app, "rows") == "word read"
    app.toggle(key="without_sinks").set_value(False).run()
    del app.query_params["without_sinks"]  # as a browser does
    visit("translate", app, translate_view="One map")
    assert not app.toggle(key="without_sinks").value


def test_a_link_to_the_open_page_sets_what_its_widgets_hold(visit) -> None:
    app = visit("inside", text=SENTENCE, kind="encoder")
    for word in ("4 another name", "2"):
        app.query_params.clear()
        link = {"kind": "encoder", "layer": "2", "head": "2", "word": word}
        visit("inside", app, linked="", text=SENTENCE, **link)
        chosen = head(app), app.selectbox(key="word").value
        assert chosen == (("encoder", "2", "2"), int(word[0]) - 1)


def test_the_address_is_written_in_one_module() -> None:
    written = re.compile(rf"st\.query_params(\.({WRITES})\b|\[[^\n=]*\] = )")
    for path in sorted((ROOT / "viz").rglob("*.py")):
        assert not written.search(path.read_text("utf-8")), path


def test_every_field_in_which_anything_is_typed_has_its_name_among_the_free_texts() -> None:
    root, keys = ROOT, set()
    for path in sorted((root / "viz").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(call, ast.Call):
                continue
            if path.name == "fields.py":  # of whoever calls it
                continue
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            # Streamlit's own `st.text_input` has no bound
            called = ast.unparse(call.func)
            assert called not in ("st.text_input", "st.text_area"), path
            bounded = ("text_field", "text_input", "text_area")
            if ast.unparse(given.get("in_link", ast.Constant(True))) == "False":
                continue
            if called.removeprefix("fields.") in bounded or "accept_new_options" in given:
                key = given["key"]
                module = import_module(".".join(path.relative_to(root).with_suffix("").parts))
                named = ast.unparse(key)
                is_text = isinstance(key, ast.Constant)
                keys.add(ast.literal_eval(key) if is_text else attrgetter(named)(module))
    assert (
        {"text", "removed", "pairs", "donor", "versus_prefix"}
        <= keys
        <= FREE_TEXTS | search_request.TEXTS
    )
