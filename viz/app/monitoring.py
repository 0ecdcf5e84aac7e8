"""Monitoring of the server: open sessions, and the metrics that Prometheus reads."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from ipaddress import ip_address

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz.app import jobs
from viz.app.cache.memory import server_wide, shared_cache
from viz.app.cache.metrics import metrics
from viz.app.models.menu import models_bytes
from viz.app.streamlit_internals import uploaded_bytes

METRICS_PATH = "_headlight/metrics"
"""Path of the metrics, behind the base path of the app."""

METRICS_VARIABLE = "HEADLIGHT_METRICS"
"""Environment variable that opens the metrics to other machines, where it is 1."""

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


class _Memory(Collector):
    """Collector of what the server holds at the moment that it is asked."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the jobs by their state, and bytes by what they hold."""
        work = GaugeMetricFamily("headlight_jobs", "Jobs in the background.", labels=["state"])
        for state, count in jobs.counts().items():
            work.add_metric([state], count)
        memory = GaugeMetricFamily("headlight_bytes", "Bytes that are held.", labels=["of"])
        for name, size in (
            ("results", shared_cache().size),
            ("models", models_bytes()),
            ("uploads", uploaded_bytes()),
        ):
            memory.add_metric([name], size)
        yield from (work, memory)


@server_wide
def _registry() -> CollectorRegistry:
    """Return the registry of this server, with what it holds and the process."""
    registry = metrics().registry
    registry.register(_Memory())
    ProcessCollector(registry=registry)
    return registry


def answer(request: Request) -> Response:
    """Answer with all metrics, as text; 404 to a request of another machine that may not read."""
    if os.environ.get(METRICS_VARIABLE) != "1" and not _is_local(request):
        return PlainTextResponse("Not Found", 404)
    encode, kind = choose_encoder(request.headers.get("accept", ""))
    return Response(encode(_registry()), headers={"Content-Type": kind})


def _is_local(request: HTTPConnection) -> bool:
    """Return whether a request comes from this machine, and through no proxy on it."""
    if request.client is None or {"forwarded", "x-forwarded-for"} & {*request.headers}:
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False
