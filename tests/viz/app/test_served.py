"""The HTML of every address, and the objects that the server searches for garbage: few."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import MutableMapping
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

import pytest
import streamlit as st
from starlette.requests import Request

from tests.forkserver import forkserver
from viz.app import served
from viz.draw.labels import PAGE_TITLES


def test_ours_comes_first() -> None:
    html = served.html()
    assert "<title>Headlight</title>" in html
    streamlits = html.index('<script type="module"')
    for script in served.SCRIPTS:
        assert html.index(script.read_text("utf-8")) < streamlits
    places = [html.index(path.read_text("utf-8")) for path in served.STYLE_SHEETS]
    assert places == sorted(places)
    assert {*served.STYLE_SHEETS} == {*served.STYLE_SHEETS[0].parent.iterdir()}  # none is forgotten
    assert served.STYLE_SHEETS[-1].stem == "phone"


@pytest.mark.parametrize(("base", "prefix"), [("", "/"), ("/some/where/", "/some/where/")])
def test_it_answers_where_the_pages_are(
    base: str, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "get_option", lambda _: base)
    assert {route.path for route in served.routes()} == {
        f"{prefix}{path}" for path in ("", *PAGE_TITLES)
    }


def test_the_first_page_is_found_by_its_name_too() -> None:
    (named,) = [route for route in served.routes() if route.path == "/translate"]
    asked = Request({"type": "http", "query_string": b"text=A+dog%26"})
    answer = named.endpoint(asked)
    assert answer.headers["location"] == "/?text=A+dog%26"


def _serve(answer: Connection) -> None:
    """The number of objects that are searched before the app is served, and while it is."""
    from app import app

    gc.unfreeze()  # as it would be without the fork server
    counts = [len(gc.get_objects())]

    async def serve() -> None:
        asked: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

        async def send(message: MutableMapping[str, Any]) -> None:
            assert message["type"] in ("lifespan.startup.complete", "lifespan.shutdown.complete")
            if message["type"] == "lifespan.startup.complete":
                counts.append(len(gc.get_objects()))
                await asked.put({"type": "lifespan.shutdown"})

        await asked.put({"type": "lifespan.startup"})
        await app({"type": "lifespan"}, asked.get, send)

    asyncio.run(serve())
    answer.send(counts)


def test_what_was_imported_is_not_searched_while_the_app_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # what `AppTest` ran last stands there, and a new process would run it, too
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    answer, to_answer = forkserver().Pipe(duplex=False)
    process = forkserver().Process(target=_serve, args=(to_answer,))
    process.start()
    assert answer.poll(60)
    before, served = answer.recv()
    process.join()
    assert before > 200_000
    assert served < before / 20
