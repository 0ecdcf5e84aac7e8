"""An address that the app does not have: its page, its links, and names in other letters."""

import asyncio
import re
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from typing import Any, NamedTuple

import pytest
import streamlit as st
from starlette.applications import Starlette
from streamlit.web.server.starlette.starlette_static_routes import (
    create_streamlit_static_assets_routes,
)

from viz.app import served
from viz.draw import labels

QUERY = "text=A+%22dog%22%26&layer=2"


class Answer(NamedTuple):
    """Answer to a browser."""

    status: int
    headers: dict[str, str]
    body: str

    def links(self) -> dict[str, str]:
        """The addresses by what stands on them; of two the last one."""
        links = re.findall(r'<a href="(.*?)">(.*?)</a>', self.body)
        return {text: unescape(address) for address, text in links}


@pytest.fixture(params=["", "some/where"], ids=["root", "below a path"])
def ask(request, monkeypatch):
    """Ask the app's own routes and middleware, in front of Streamlit's files, below a path."""
    base = request.param
    monkeypatch.setattr(st, "get_option", lambda _: base)
    routes = [*served.routes(), *create_streamlit_static_assets_routes(base)]
    app = Starlette(routes=routes, middleware=served.middleware())
    prefix = f"/{base}/" if base else "/"

    async def answer(path: str, query: str) -> Answer:
        messages: list[MutableMapping[str, Any]] = []

        async def send(message: MutableMapping[str, Any]) -> None:
            messages.append(message)

        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()  # the browser stays, and sends no body
            return {"type": "http.disconnect"}

        scope = {"type": "http", "method": "GET", "path": path, "headers": [], "root_path": ""}
        await app(scope | {"query_string": query.encode()}, receive, send)
        start, *parts = messages
        body = b"".join(part.get("body", b"") for part in parts)
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], headers, body.decode("utf-8", "replace"))

    def asked(path: str, query: str = "") -> Answer:
        with ThreadPoolExecutor(1) as pool:  # the loop of a browser's test may run in this thread
            return pool.submit(asyncio.run, answer(prefix + path, query)).result()

    return prefix, asked


def test_an_unknown_address_has_the_navigation_and_keeps_the_sentence(ask) -> None:
    prefix, get = ask
    answer = get("nosuchpage", QUERY)
    assert answer.status == 404
    assert answer.headers["content-length"] == str(len(answer.body.encode()))
    assert "frame-ancestors" in answer.headers["content-security-policy"]
    assert "<script" not in answer.body  # of Streamlit, which would draw a bare app
    wanted = {title: f"{prefix}{path}?{QUERY}" for path, title in labels.PAGE_TITLES.items()}
    assert answer.links() == wanted


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("haeds", "All heads"),
        ("insid", "Inside a head"),
        ("x/Training/y", "Training"),
        ("all_heads", "All heads"),
        ("index.html", None),
        ("a" * 60_000, None),
    ],
)
def test_the_page_that_was_probably_meant_comes_first(ask, path, title) -> None:
    prefix, get = ask
    answer = get(path)
    _, _, main = answer.body.partition("<main>")
    (near,) = re.findall(r'<a href="(.*?)">(.*?)</a>', main) or [("", None)]
    assert (answer.status, near[1]) == (404, title)
    if title:
        assert labels.PAGE_TITLES[near[0].removeprefix(prefix)] == title
    assert len(answer.body) < 3_000


@pytest.mark.parametrize(
    ("path", "page"),
    [
        *((name, "heads") for name in ("Heads", "HEADS.", "heads)")),
        ("translate", ""),  # Streamlit knows the first page by the empty path alone
        ("Translate", ""),
    ],
)
def test_a_name_in_other_letters_opens_its_page(ask, path, page) -> None:
    prefix, get = ask
    answer = get(path, QUERY)
    assert (answer.status, answer.headers["location"]) == (307, f"{prefix}{page}?{QUERY}")


def test_a_typed_path_is_text(ask) -> None:
    _, get = ask
    assert "<script>" not in get("<script>alert(1)</script>", "<script>").body


def test_pages_and_files_answer_as_they_did(ask) -> None:
    prefix, get = ask
    for path in ("", "heads", "training"):
        assert "<title>Headlight</title>" in get(path).body
    assert get("favicon.png").headers["content-type"] == "image/png"
    assert get("heads/", QUERY).headers["location"] == f"{prefix}heads?{QUERY}"
