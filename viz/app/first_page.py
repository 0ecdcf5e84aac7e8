"""The HTML that a browser loads first: Streamlit's own, with one script of ours before its scripts.

Streamlit has no place for it: `viz/draw/js/history.js` must be there before the app is.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from viz import draw
from viz.app.navigation import TITLES

SCRIPT = Path(draw.__file__).parent / "js" / "history.js"
STREAMLITS = Path(st.__file__).parent / "static" / "index.html"


def html() -> str:
    """The page, the same for every address."""
    script = f"<script>\n{SCRIPT.read_text('utf-8')}</script>"
    page = STREAMLITS.read_text("utf-8")
    return page.replace("<title>Streamlit</title>", f"<title>Headlight</title>\n{script}")


def routes() -> list[Route]:
    """The addresses of all pages, which answer with it."""
    text = html()

    async def answer(_request: Request) -> Response:
        return HTMLResponse(text, headers={"Cache-Control": "no-cache"})

    base = st.get_option("server.baseUrlPath").strip("/")
    prefix = f"/{base}/" if base else "/"
    return [Route(prefix + path, answer) for path in ("", *TITLES)]
