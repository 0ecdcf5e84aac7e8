"""HTTP side of the app: the HTML of every address, headers, accepted requests.

Streamlit has no place for our scripts and styles. `js/history.js` must load before the app; the
others belong to no component. A style sheet that came with the first run would move the page.
"""

import base64
import gc
import hashlib
import os
import re
import threading
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from transformer import errors
from transformer.files import reading
from viz.app import streamlit_internals
from viz.app.cache import memory, search_queue
from viz.app.log import log_refusal
from viz.app.models import menu
from viz.app.sessions import BoundedSessions, raise_limit
from viz.app.unknown_page import unknown_pages
from viz.draw import labels

FRAMES_VARIABLE = "HEADLIGHT_FRAME_ANCESTORS"
"""Environment variable with the sites whose pages may show the app in a frame, beside its own."""

_SITE = re.compile(r"\*|https?://(\*\.)?[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*(:([0-9]+|\*))?")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)

DEVICES = "camera display-capture geolocation hid microphone midi payment serial usb"


class SecurityHeaders:
    """Middleware that adds headers to every answer of the application behind it."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self.app = app
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and add the headers to the answer."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)


def policy(html: str, frames: str) -> str:
    """Return the Content-Security-Policy of a page.

    Streamlit writes styles into the page as it runs, has a font in one of them, and computes whole
    numbers of 64 bits in WebAssembly. Pictures are saved by `data:` and `blob:`. Vega interprets
    its expressions in Streamlit, so nothing needs `unsafe-eval`.
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE.findall(html))
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    directives = {
        "default-src": "'self'",
        "script-src": f"'self' 'wasm-unsafe-eval' {hashes}",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": f"'self' {frames}".strip(),
    }
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


def frames_setting() -> str:
    """Return the sites that `HEADLIGHT_FRAME_ANCESTORS` names; "" for none."""
    sites = os.environ.get(FRAMES_VARIABLE, "").split()
    for site in sites:
        if not _SITE.fullmatch(site):
            raise errors.InputError(
                f"{FRAMES_VARIABLE} has {site!r}: write sites as https://example.org or "
                f"https://*.example.org, with spaces between them."
            )
    return " ".join(sites)


_CHROME = Path(__file__).with_name("chrome")
_SCRIPTS = (
    "drawn blocked card_focus clock groups history languages light live_text menus share translated"
)
SCRIPTS = [_CHROME / "js" / f"{name}.js" for name in _SCRIPTS.split()]
_STYLES = "page sentence_bar translate texts choices focus lesson share forced_colors phone"
STYLE_SHEETS = [_CHROME / "style" / f"{name}.css" for name in _STYLES.split()]
"""In their order: of two rules that weigh the same the later one counts."""


def html() -> str:
    """Return the page, the same for every address."""
    scripts = "".join(f"<script>\n{path.read_text('utf-8')}</script>\n" for path in SCRIPTS)
    # in the body, after the styles that Streamlit puts into the head: the later of two rules counts
    styles = f"<style>\n{style_sheet()}</style>\n"
    return streamlit_internals.index_html(f"<title>Headlight</title>\n{scripts}", styles)


def style_sheet() -> str:
    """Return the styles that Streamlit's theme cannot express."""
    return "\n".join(path.read_text("utf-8") for path in STYLE_SHEETS)


def routes() -> list[Route]:
    """Return the routes of all pages, each with the same HTML."""
    text, prefix = html(), _prefix()

    async def page(_request: Request) -> Response:
        return HTMLResponse(text, headers={"Cache-Control": "no-cache"})

    return [Route(prefix + path, page) for path in ("", *[*labels.PAGE_TITLES][1:])]


def middleware() -> list[Middleware]:
    """Return the middleware of every request, the outermost first."""
    return [
        Middleware(SecurityHeaders, headers=answer_headers()),
        Middleware(BoundedSessions),
        Middleware(BoundedUploads),
        Middleware(unknown_pages, prefix=_prefix()),
    ]


def answer_headers() -> dict[str, str]:
    """Return the security headers of every answer."""
    return {
        "Content-Security-Policy": policy(html(), frames_setting()),
        "Permissions-Policy": ", ".join(f"{device}=()" for device in DEVICES.split()),
        "Referrer-Policy": "same-origin",  # the address has what was typed
        "X-Content-Type-Options": "nosniff",
    }


def answer_error(_request: Request, _error: Exception) -> Response:
    """Answer 500, which passes no middleware."""
    return PlainTextResponse("Internal Server Error", 500, answer_headers())


def _prefix() -> str:
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"/{base}/" if base else "/"


READING = ("GET", "HEAD", "OPTIONS")
"""Methods that are answered; what a user types comes through the WebSocket."""

UPLOADING = ("PUT", "DELETE")
"""Methods that are answered where Streamlit takes the files of a session."""

MAX_UPLOAD_BYTES = 128 * reading.MIB
"""Bytes of a request with a file; by `server.maxUploadSize` the browser says it before it sends."""

ALL_UPLOADS = 4 * MAX_UPLOAD_BYTES
"""Bytes of the files that the server holds at one time, for all users together."""

UPLOADS_OF_CLIENT = ALL_UPLOADS // 2  # bytes of those of one client, in all of its tabs

REFUSAL = "Headlight takes no files here: it only answers requests that read.\n"
TOO_LARGE = f"The file is larger than {MAX_UPLOAD_BYTES // reading.MIB} MiB: send a smaller one.\n"
FULL = "The server holds as many files as it can: try again in a few minutes.\n"
FULL_OF_YOURS = "The server holds as many of your files as it can: wait until they are read.\n"

_UPLOAD = re.compile(r"_stcore/upload_file/([^/]+)/[^/]+")


class _UploadRefusedError(OSError):
    """Error of a body that became too large; an `OSError` closes its temporary file."""


class BoundedUploads:
    """Middleware that accepts only uploads of bounded size, where Streamlit takes them."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._arriving: Counter[str] = Counter()  # by client, bytes of bodies that are on their way
        self._client_of: dict[str, str] = {}  # of each session that sent a file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 405, 413 or 507 to a write that is not allowed; pass on other requests."""
        if scope["type"] != "http" or scope["method"] in READING:
            await self.app(scope, receive, send)
            return
        path = scope["path"].removeprefix(_prefix())
        upload = _UPLOAD.fullmatch(path)
        if scope["method"] not in UPLOADING or upload is None:
            await _refuse(405, REFUSAL)(scope, receive, send)
            return
        client = search_queue.network((scope.get("client") or [None])[0])
        length = Headers(scope=scope).get("content-length", "0")
        is_possible = length.isdecimal() and len(length) <= len(str(MAX_UPLOAD_BYTES))
        refusal = self._refusal(client, int(length) if is_possible else MAX_UPLOAD_BYTES + 1)
        size = 0

        async def counted() -> Message:
            """Receive, and count the bytes, whatever length was announced."""
            nonlocal refusal, size
            message = await receive()
            if arrived := len(message.get("body", b"")):
                size += arrived
                self._arriving[client] += arrived
                if refusal := self._refusal(client, size):
                    raise _UploadRefusedError
            return message

        async def closing(message: Message) -> None:
            """Close the connection where the body may not have been read."""
            if message.get("status", 200) >= 400:
                message["headers"] = [*message["headers"], (b"connection", b"close")]
            await send(message)

        if not refusal:
            try:
                await self.app(scope, counted, closing)
            except _UploadRefusedError:
                pass
            finally:
                self._arriving[client] -= size
                self._client_of[upload[1]] = client
        if refusal:
            await refusal(scope, receive, send)

    def _refusal(self, client: str, size: int) -> Response | None:
        """Return the refusal of a body of this size; None if it is allowed."""
        if size > MAX_UPLOAD_BYTES:
            return _refuse(413, TOO_LARGE)
        held = streamlit_internals.uploaded_bytes()
        self._client_of = {name: by for name, by in self._client_of.items() if name in held}
        own = sum(held[name] for name, by in self._client_of.items() if by == client)
        if own + max(size, self._arriving[client]) > UPLOADS_OF_CLIENT:
            return _refuse(507, FULL_OF_YOURS)
        if sum(held.values()) + max(size, self._arriving.total()) > ALL_UPLOADS:
            return _refuse(507, FULL)
        return None


def _refuse(status: int, sentence: str) -> Response:
    log_refusal(f"HTTP {status}")
    # the connection is closed, else the server would read the body to find the next request
    headers = {"Connection": "close"}
    if status == 405:
        headers["Allow"] = ", ".join(READING)
    return PlainTextResponse(sentence, status, headers)


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Load the first model, and exempt all that is imported from the search for garbage."""
    gc.collect()
    gc.freeze()
    threading.Thread(target=menu.warm_up, name="warm up", daemon=True).start()
    yield
    gc.unfreeze()


def bound_memory() -> None:
    """Bound memory of the server that starts next, which gets descriptors."""
    raise_limit()
    # one heap for all threads (M_ARENA_MAX): of others, glibc gives next to nothing back
    memory.call_heap("mallopt", -8, 1)
    streamlit_internals.drop_forged_values(partial(log_refusal, "forged value"))
