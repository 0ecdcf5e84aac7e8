"""HTTP requests that only read: the app takes no files, and Streamlit would keep them in memory."""

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

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
