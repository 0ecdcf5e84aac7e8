"""The page of an address that the app does not have; Streamlit would show a bare app there."""

from difflib import get_close_matches
from html import escape
from string import Template

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from transformer.errors import one_line, shortened
from viz.draw.labels import PAGE_TITLES

_PAGE = Template("""<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>No such page · Headlight</title><style>
:root { color-scheme: light dark; background: light-dark(#FCFCFB, #131415);
  color: light-dark(#1F2123, #E8E8E6); font: 1rem/1.5 "Source Sans", sans-serif; }
body { margin: 0.75rem auto; max-width: 60rem; overflow-wrap: anywhere; padding: 0 1rem; }
nav { display: flex; flex-wrap: wrap; font-size: 0.875rem; gap: 0.5rem 1.25rem; }
h1 { font-size: 1.5rem; margin: 3rem 0 0.5rem; } a { color: inherit; text-underline-offset: 0.2em; }
</style><nav>$links</nav><main><h1>There is no page $asked</h1><p>$advice</p></main></html>""")
_SLUGS = {title.casefold().replace(" ", "-"): path for path, title in PAGE_TITLES.items()}
_NAMES = _SLUGS | {path: path for path in PAGE_TITLES}


class UnknownPages:
    """Middleware that answers where Streamlit would with its file for every address."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app, self._prefix = app, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and replace that answer."""
        replaced = False

        async def instead(message: Message) -> None:
            nonlocal replaced
            headers = Headers(raw=message.get("headers", ()))
            # only files have a tag
            if headers.get("content-type", "").startswith("text/html") and "etag" in headers:
                replaced = True
                await self._answer(scope)(scope, receive, send)
            elif not replaced:
                await send(message)

        await self.app(scope, receive, instead if scope["type"] == "http" else send)

    def _answer(self, scope: Scope) -> Response:
        """Return the way to the page of the same name in other letters, or else the page."""
        asked = scope["path"].removeprefix(self._prefix)
        query = f"?{text}" if (text := scope["query_string"].decode("latin-1")) else ""
        name = asked.casefold().strip("/.,;:)> ")
        if name in _NAMES:  # Streamlit knows the first page by the empty path alone
            path = _NAMES[name].removeprefix(next(iter(PAGE_TITLES)))
            return RedirectResponse(f"{self._prefix}{path}{query}")

        def link(path: str) -> str:
            return f'<a href="{escape(self._prefix + path + query)}">{PAGE_TITLES[path]}</a>'

        near = [_NAMES[n] for part in name.split("/") for n in get_close_matches(part, _NAMES, 1)]
        page = _PAGE.substitute(
            links="".join(map(link, PAGE_TITLES)),
            asked=escape(f"“/{shortened(one_line(asked), 60)}”"),
            advice=f"Perhaps you mean {link(near[0])}." if near else "Choose one of those above.",
        )
        return HTMLResponse(page, 404)
