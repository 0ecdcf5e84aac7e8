"""The HTML that a browser loads first: Streamlit's own, and our scripts and styles.

Streamlit has no place for them: `js/history.js` must be there before the app is,
the others belong to no component, and a style sheet that came with the first run would move all
that is drawn by then.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from viz.app.chrome.style import style_sheet
from viz.app.links.navigation import TITLES

SCRIPTS = [
    Path(__file__).parent / "js" / name
    for name in ("history.js", "languages.js", "live_text.js", "menus.js", "undo.js")
]
STREAMLITS = Path(st.__file__).parent / "static" / "index.html"


def html() -> str:
    """Return the page, the same for every address."""
    scripts = "".join(f"<script>\n{path.read_text('utf-8')}</script>\n" for path in SCRIPTS)
    # in the body, after the styles that Streamlit puts into the head: the later of two rules counts
    styles = f"<style>\n{style_sheet()}</style>\n"
    return (
        STREAMLITS.read_text("utf-8")
        .replace("<title>Streamlit</title>", f"<title>Headlight</title>\n{scripts}")
        .replace('<div id="root">', f'{styles}<div id="root">')
    )


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
    first, *others = TITLES
    return [
        Route(prefix + first, to_first),
        *(Route(prefix + path, answer) for path in ("", *others)),
    ]
