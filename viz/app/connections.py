"""Connections of the server: one that asks nothing ends, so that another finds a place."""

from __future__ import annotations

import logging
import sys
from asyncio import BaseTransport

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from viz.app.cache.metrics import metrics
from viz.app.served import answer_headers
from viz.app.streamlit_internals import serve_with

if sys.platform != "win32":  # which has no such limit
    import resource

SECONDS = 10.0
"""Time in which a request has to come, from the beginning of the connection or the last answer."""

MOST, RESERVE = 4_000, 128
"""Connections at one time, and descriptors that are for files."""

REPORT = 60.0
"""Seconds between two lines of the log on a full server."""

_LOG = logging.getLogger(__name__)


def bound_connections() -> None:
    """Bound the connections of the server that starts next, which gets descriptors for them."""
    if sys.platform != "win32":
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MOST + RESERVE if hard == resource.RLIM_INFINITY else min(MOST + RESERVE, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    serve_with(http=BoundedConnection)


def most_connections() -> int:
    """Return how many connections the server has at one time, at most."""
    if sys.platform == "win32":
        return MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, max(soft - RESERVE, 16))


class BoundedConnection(H11Protocol):
    """A connection that ends where no request comes, or sooner where the server is full."""

    _reported = -REPORT  # when the log last had a line, by the clock of the loop

    def connection_made(self, transport: BaseTransport) -> None:
        """Begin to wait for a request, in the place of another one if there is no more."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._since = self.loop.time()
        self.loop.call_later(SECONDS, self._end_if_silent)
        if len(self.connections) > (most := most_connections()):
            self._make_room(most)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, with the headers of every answer."""
        headers = {**answer_headers(), "Content-Type": "text/plain", "Connection": "close"}
        answer = h11.Response(status_code=400, headers=[*headers.items()], reason=b"Bad Request")
        for event in (answer, h11.Data(data=msg.encode()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        self.transport.close()

    @property
    def _is_silent(self) -> bool:
        is_over: bool = getattr(self.cycle, "response_complete", True)  # None before the first
        return is_over and self in self.connections and not self.transport.is_closing()

    def _end_if_silent(self) -> None:
        """End it after `SECONDS` of silence, and else look once more; a WebSocket is none of it."""
        if self not in self.connections:
            return
        left = self._since + SECONDS - self.loop.time() if self._is_silent else SECONDS
        if left > 0:
            self.loop.call_later(left, self._end_if_silent)
        else:
            self.transport.close()

    def _make_room(self, most: int) -> None:
        """End the connection that is silent for longest; this one where all others ask."""
        others = [c for c in self.connections if isinstance(c, BoundedConnection) and c is not self]
        silent = [connection for connection in others if connection._is_silent]
        min(silent, key=lambda c: c._since, default=self).transport.abort()
        metrics().refusals.labels("too many connections").inc()
        if self.loop.time() >= type(self)._reported + REPORT:
            type(self)._reported = self.loop.time()
            _LOG.warning("refused: more than %d connections, the silent ones end", most)
