"""Open tabs of the server, and its file descriptors."""

import sys
from contextlib import suppress

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from viz.app.log import log_refusal

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


_STREAMLITS = "/_stcore/metrics"
_NOT_FOUND = PlainTextResponse("Not Found", 404)


class BoundedSessions:
    """Middleware that bounds open tabs, and hides the metrics of Streamlit itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the connection on, and count it to its end."""
        if scope["type"] != "websocket":
            is_hidden = scope["type"] == "http" and scope["path"].endswith(_STREAMLITS)
            await (_NOT_FOUND if is_hidden else self.app)(scope, receive, send)
            return
        if self._open >= most_descriptors() // TAB:
            log_refusal("too many tabs")
            await send({"type": "websocket.close"})
            return
        self._open += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._open -= 1
