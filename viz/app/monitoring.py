"""Monitoring of the server: open sessions, and the metrics that Prometheus reads."""

from __future__ import annotations

import logging
import os
import time
from functools import partial

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz.app import jobs
from viz.app.cache.memory import server_wide, shared_cache
from viz.app.cache.metrics import metrics
from viz.app.cache.search_queue import search_queue
from viz.app.models.menu import models_bytes
from viz.app.streamlit_internals import uploaded_bytes

METRICS_PATH = "_headlight/metrics"
"""Path of the metrics, behind the base path of the app."""

METRICS_VARIABLE = "HEADLIGHT_METRICS"
"""Environment variable that opens the metrics to other machines, where it is 1."""

LOCAL = ("127.0.0.1", "::1")

_LOG = logging.getLogger(__name__)


class CountedSessions:
    """Middleware that counts the tabs that are open, each by its WebSocket, and logs them.

    Args:
        app: the application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._last = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the connection on, and count it from its acceptance to its end."""
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        began: float | None = None
        number = 0

        async def counted(message: Message) -> None:
            nonlocal began, number
            await send(message)
            if message["type"] == "websocket.accept" and began is None:
                began, self._last = time.monotonic(), self._last + 1
                number = self._last
                metrics().sessions.inc()
                metrics().open_sessions.inc()
                _LOG.info("session %d begins", number)

        try:
            await self.app(scope, receive, counted)
        finally:
            if began is not None:
                metrics().open_sessions.dec()
                _LOG.info("session %d ends after %.0f s", number, time.monotonic() - began)


@server_wide
def _registry() -> CollectorRegistry:
    """Return the registry of this server, with what it holds when it is asked, and the process."""
    counts = metrics()
    held = {
        "results": lambda: shared_cache().size, "models": models_bytes, "uploads": uploaded_bytes,
    }  # fmt: skip
    for name, size in held.items():
        counts.bytes.labels(name).set_function(size)
    for state in ("waiting", "running"):
        counts.jobs.labels(state).set_function(partial(jobs.count, state))
        counts.searches.labels(state).set_function(partial(search_queue().count, state))
    ProcessCollector(registry=counts.registry)
    return counts.registry


def answer(request: Request) -> Response:
    """Answer with all metrics, as text; 404 to a request of another machine that may not read."""
    if os.environ.get(METRICS_VARIABLE) != "1" and not _is_local(request):
        return PlainTextResponse("Not Found", 404)
    encode, kind = choose_encoder(request.headers.get("accept", ""))
    return Response(encode(_registry()), headers={"Content-Type": kind})


def _is_local(request: Request) -> bool:
    """Return whether a request comes from this machine, and through no proxy on it."""
    proxied = {"forwarded", "x-forwarded-for"} & {*request.headers}
    return not proxied and request.client is not None and request.client.host in LOCAL
