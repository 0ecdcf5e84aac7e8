"""Open sessions of the server, and its file descriptors."""

import logging
import sys
import time
from collections import Counter
from contextlib import suppress

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from transformer.files import reading
from viz.app.cache import memory
from viz.app.cache.search_queue import network
from viz.app.log import log_refusal
from viz.app.models import menu

if sys.platform != "win32":  # which has no such limit
    import resource

MOST, RESERVE = 16_000, 128
"""Descriptors that are used for people, and those that are left for files."""

TAB = 4  # descriptors of an open tab: its WebSocket, and Streamlit's event loop for it


def raise_limit() -> None:
    """Raise this process's limit of descriptors to the largest useful or allowed number."""
    if sys.platform != "win32":
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MOST + RESERVE if hard == resource.RLIM_INFINITY else min(MOST + RESERVE, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            with suppress(ValueError, OSError):  # macOS may allow fewer than its limit says
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_descriptors() -> int:
    """Return the number of descriptors for connections."""
    if sys.platform == "win32":
        return MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, max(soft - RESERVE, 16))


MAX_TABS = 400
"""Tabs of one client that are open at the same time, or half of all: a school has one address."""

_STREAMLITS = "/_stcore/metrics"
_NOT_FOUND = PlainTextResponse("Not Found", 404)

_LOG = logging.getLogger(__name__)


class BoundedSessions:
    """Middleware that bounds and logs open tabs, and hides the metrics of Streamlit itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._last = 0
        self._open: Counter[str] = Counter()  # by client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the connection on, and count it from its acceptance to its end."""
        if scope["type"] != "websocket":
            is_hidden = scope["type"] == "http" and scope["path"].endswith(_STREAMLITS)
            await (_NOT_FOUND if is_hidden else self.app)(scope, receive, send)
            return
        client = network((scope.get("client") or [None])[0])
        if self._open[client] >= min(MAX_TABS, most_descriptors() // TAB // 2):
            log_refusal("too many tabs")
            await send({"type": "websocket.close"})
            return
        began, number = 0.0, 0

        async def counted(message: Message) -> None:
            nonlocal began, number
            await send(message)
            if message["type"] == "websocket.accept" and not number:
                began = time.monotonic()
                number = self._last = self._last + 1
                _LOG.info("session %d begins", number)

        async def received() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and message.get("bytes") is None:
                log_refusal("forged message")  # a browser sends no text
                return {"type": "websocket.disconnect", "code": 1003}
            return message

        self._open[client] += 1
        try:
            await self.app(scope, received, counted)
        finally:
            self._open -= Counter([client])  # which forgets a client without a tab
            if number:
                results, models = (
                    size / reading.MIB for size in (memory.shared_cache().size, menu.models_bytes())
                )
                _LOG.info(
                    "session %d ends after %.0f s; results %.0f MiB, models %.0f MiB",
                    number, time.monotonic() - began, results, models,
                )  # fmt: skip
