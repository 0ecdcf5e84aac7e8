"""Connections of the server: silent ones end, so that others find a place."""

import logging
import time
from asyncio import BaseTransport

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from viz.app.cache.metrics import metrics
from viz.app.descriptors import TAB, most_descriptors, raise_limit
from viz.app.served import answer_headers
from viz.app.streamlit_internals import serve_with

SECONDS = 10.0
"""Time in which a request has to come, from the beginning of the connection or the last answer."""

REPORT = 60.0
"""Seconds between two lines of the log on a full server."""

_LOG = logging.getLogger(__name__)


def bound_connections() -> None:
    """Bound the connections of the server that starts next, which gets descriptors for them."""
    raise_limit()
    serve_with(http=BoundedConnection)


class BoundedConnection(H11Protocol):
    """A connection that ends where no request comes, or sooner where the server is full."""

    _reported = -REPORT  # when the log last had a line

    def connection_made(self, transport: BaseTransport) -> None:
        """Wait for a request; on a full server, take the place of another connection."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._since = time.monotonic()  # the clock of uvloop stands still within an iteration
        self.loop.call_later(SECONDS, self._end_if_silent)
        tabs = sum(not isinstance(other, BoundedConnection) for other in self.connections)
        if len(self.connections) + tabs * (TAB - 1) > most_descriptors():
            self._make_room()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._since = time.monotonic()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse an invalid request, with the headers of every answer."""
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
        """End it after `SECONDS` of silence, or check again later; WebSockets are exempt."""
        if self not in self.connections:
            return
        left = self._since + SECONDS - time.monotonic() if self._is_silent else SECONDS
        if left > 0:
            self.loop.call_later(left, self._end_if_silent)
        else:
            self.transport.close()

    def _make_room(self) -> None:
        """End the connection that is silent longest; this one if all others are active."""
        others = [c for c in self.connections if isinstance(c, BoundedConnection) and c is not self]
        silent = [connection for connection in others if connection._is_silent]
        min(silent, key=lambda c: c._since, default=self).transport.abort()
        metrics().refusals.labels("too many connections").inc()
        if time.monotonic() >= type(self)._reported + REPORT:
            type(self)._reported = time.monotonic()
            _LOG.warning("refused: %d connections are too many, silent ones end", len(others))
