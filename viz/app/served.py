"""The app as HTTP serves it: the HTML of every address, what is read only, what is served for long.

Streamlit has no place for our scripts and styles: `js/history.js` must be there before the app is,
the others belong to no component, and a style sheet that came with the first run would move all
that is drawn by then.
"""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from viz.app.streamlit_internals import index_html
from viz.draw.labels import PAGE_TITLES

_CHROME = Path(__file__).with_name("chrome")
_SCRIPTS = "card_focus history languages light live_text menus share undo"
SCRIPTS = [_CHROME / "js" / f"{name}.js" for name in _SCRIPTS.split()]
_STYLES = "page sentence_bar translate texts choices focus lesson share phone"
STYLE_SHEETS = [_CHROME / "style" / f"{name}.css" for name in _STYLES.split()]
"""In their order: of two rules that weigh the same the later one counts."""


def html() -> str:
    """Return the page, the same for every address."""
    scripts = "".join(f"<script>\n{path.read_text('utf-8')}</script>\n" for path in SCRIPTS)
    # in the body, after the styles that Streamlit puts into the head: the later of two rules counts
    styles = f"<style>\n{style_sheet()}</style>\n"
    return index_html(f"<title>Headlight</title>\n{scripts}", styles)


def style_sheet() -> str:
    """Return the style of the app: what Streamlit's theme cannot say."""
    return "\n".join(path.read_text("utf-8") for path in STYLE_SHEETS)


def routes() -> list[Route]:
    """Return the routes of all pages, which answer with it."""
    text = html()

    async def answer(_request: Request) -> Response:
        return HTMLResponse(text, headers={"Cache-Control": "no-cache"})

    def to_first(request: Request) -> Response:
        # Streamlit knows the first page by the empty path alone
        return RedirectResponse(f"{prefix}?{request.scope['query_string'].decode()}")

    base = st.get_option("server.baseUrlPath").strip("/")
    prefix = f"/{base}/" if base else "/"
    first, *others = PAGE_TITLES
    return [
        Route(prefix + first, to_first),
        *(Route(prefix + path, answer) for path in ("", *others)),
    ]


READING = ("GET", "HEAD", "OPTIONS")
"""Methods that are answered; what a reader types comes through the WebSocket."""

REFUSAL = "Headlight takes no files: it only answers requests that read.\n"


class ReadOnly:
    """Middleware that refuses every other method before a byte of its body is read.

    Args:
        app: the application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 405 where the method writes, else hand the request on."""
        if scope["type"] != "http" or scope["method"] in READING:
            await self.app(scope, receive, send)
            return
        # the connection is closed, else the server would read the body to find the next request
        headers = {"Allow": ", ".join(READING), "Connection": "close"}
        await PlainTextResponse(REFUSAL, 405, headers)(scope, receive, send)


@asynccontextmanager
async def imports_exempt(_app: object) -> AsyncIterator[None]:
    """Exempt all that was imported before from the search for garbage while the app is served.

    torch and the other libraries have made several hundred thousand objects by then, which live as
    long as the server: 0.2 s for each search of all generations, in which no reader is served.
    These searches are rare, since `.streamlit/config.toml` turns off the one that Streamlit makes
    after every run: Python makes one when a quarter more is there than after the last.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
