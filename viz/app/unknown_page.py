"""The page of an address that the app does not have; Streamlit would show a bare app there."""

from difflib import get_close_matches
from html import escape

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from transformer.errors import one_line, shortened
from viz.draw.labels import PAGE_TITLES

_HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>No such page</title>
<meta name="viewport" content="width=device-width"><style>
:root { color-scheme: light dark; background: light-dark(#FCFCFB, #131415);
  color: light-dark(#1F2123, #E8E8E6); font: 1rem/1.5 "Source Sans", sans-serif; }
body { margin: 0.75rem auto; max-width: 60rem; overflow-wrap: anywhere; padding: 0 1rem; }
nav { display: flex; flex-wrap: wrap; font-size: 0.875rem; gap: 0.5rem 1.25rem; }
h1 { font-size: 1.5rem; margin: 3rem 0 0.5rem; } a { color: inherit; text-underline-offset: 0.2em; }
</style>"""


def unknown_pages(app: ASGIApp, prefix: str) -> ASGIApp:
    """Return an app that answers where Streamlit would with its file for every address."""

    async def answering(scope: Scope, receive: Receive, send: Send) -> None:
        replaced = False

        async def instead(message: Message) -> None:
            nonlocal replaced
            headers = Headers(raw=message.get("headers", ()))
            # only files have a tag
            if headers.get("content-type", "").startswith("text/html") and "etag" in headers:
                replaced = True
                await _answer(scope, prefix)(scope, receive, send)
            elif not replaced:
                await send(message)

        await app(scope, receive, instead if scope["type"] == "http" else send)

    return answering


def _answer(scope: Scope, prefix: str) -> Response:
    """Return the way to the page of the same name in other letters, or else the page."""
    asked, query = scope["path"].removeprefix(prefix), scope["query_string"].decode("latin-1")
    query = f"?{query}" if query else ""
    name = asked.casefold().strip("/.,;:)> ")
    if name in PAGE_TITLES:  # Streamlit knows the first page by the empty path alone
        return RedirectResponse(f"{prefix}{name.removeprefix(next(iter(PAGE_TITLES)))}{query}")
    links = {
        path: f'<a href="{escape(prefix + path + query)}">{title}</a>'
        for path, title in PAGE_TITLES.items()
    }
    near = [links[n] for part in name.split("/") for n in get_close_matches(part, links, 1)]
    title = escape(f"There is no page “/{shortened(one_line(asked), 60)}”")
    advice = f"Perhaps you mean {near[0]}." if near else "Choose one of those above."
    nav, main = "".join(links.values()), f"<h1>{title}</h1><p>{advice}</p>"
    return HTMLResponse(f"{_HEAD}<nav>{nav}</nav><main>{main}</main></html>", 404)
