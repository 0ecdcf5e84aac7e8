"""Monitoring of the server: open sessions, file descriptors, and metrics for Prometheus."""

import hmac
import logging
import os
import sys
import time
from collections import Counter
from contextlib import suppress
from functools import partial

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz.app import jobs, streamlit_internals
from viz.app.cache import memory
from viz.app.cache.metrics import count_refusal, metrics
from viz.app.cache.search_queue import network, search_queue
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


METRICS_PATH = "_headlight/metrics"  # path of the metrics, behind the base path of the app

METRICS_VARIABLE = "HEADLIGHT_METRICS"
"""Environment variable with the token that opens the metrics; 1 opens them to everybody. Without
one they are closed: a proxy on this machine looks as the machine itself does."""

SHORTEST_TOKEN = 16  # smallest number of characters of the token

MAX_TABS = 400
"""Tabs of one client that are open at the same time, or half of all: a school has one address."""

_STREAMLITS = "/_stcore/metrics"
_NOT_FOUND = PlainTextResponse("Not Found", 404)

_LOG = logging.getLogger(__name__)


class CountedSessions:
    """Middleware that counts and logs open tabs, and hides the metrics of Streamlit itself."""

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
            count_refusal("too many tabs")
            await send({"type": "websocket.close"})
            return
        began, number = 0.0, 0

        async def counted(message: Message) -> None:
            nonlocal began, number
            await send(message)
            if message["type"] == "websocket.accept" and not number:
                began = time.monotonic()
                number = self._last = self._last + 1
                metrics().sessions.inc()
                metrics().open_sessions.inc()
                _LOG.info("session %d begins", number)

        async def received() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and message.get("bytes") is None:
                count_refusal("forged message")  # a browser sends no text
                return {"type": "websocket.disconnect", "code": 1003}
            return message

        self._open[client] += 1
        try:
            await self.app(scope, received, counted)
        finally:
            self._open -= Counter([client])  # which forgets a client without a tab
            if number:
                metrics().open_sessions.dec()
                _LOG.info("session %d ends after %.0f s", number, time.monotonic() - began)


@memory.server_wide
def _registry() -> CollectorRegistry:
    counts = metrics()
    held = {
        "results": lambda: memory.shared_cache().size, "models": menu.models_bytes,
        "uploads": lambda: sum(streamlit_internals.uploaded_bytes().values()),
    }  # fmt: skip
    for name, size in held.items():
        counts.bytes.labels(name).set_function(size)
    for state in ("waiting", "running"):
        counts.jobs.labels(state).set_function(partial(jobs.count, state))
        counts.searches.labels(state).set_function(partial(search_queue().count, state))
    ProcessCollector(registry=counts.registry)
    return counts.registry


def answer(request: Request) -> Response:
    """Answer with all metrics, as text; 404 to anyone who may not read them."""
    token = os.environ.get(METRICS_VARIABLE, "")
    sent = request.headers.get("authorization", "").removeprefix("Bearer ")
    is_same = hmac.compare_digest(sent.encode(), token.encode())
    if token != "1" and not (len(token) >= SHORTEST_TOKEN and is_same):
        return _NOT_FOUND
    encode, kind = choose_encoder(request.headers.get("accept", ""))
    return Response(encode(_registry()), headers={"Content-Type": kind})
