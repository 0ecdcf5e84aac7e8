"""Bodies sent by HTTP to an app that takes none, with the token of a session as an attack has."""

from __future__ import annotations

import http.client
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

from benchmarks.campaign.forged_session import ForgedSession, Server, served
from benchmarks.campaign.outcome import Outcome

ENTRANCE = "uploads"
METHODS = ("PUT", "POST", "DELETE", "PATCH")
PATHS = (
    *("/_stcore/upload_file/{session}/{file}", "/_stcore/upload_file/none/{file}"),
    *("/_stcore/host-config", "/_stcore/stream", "/media/{file}", "/", "/heads"),
)
SIZES = (0, 1, 100_000, 20_000_000)
"""Bytes of a body."""

MOST_MEGABYTES = 8.0
"""By which the memory of the server may rise with one request; a large body is 20."""


def run(count: int, seed: int) -> Iterator[Outcome]:
    """Send so many bodies to one server."""
    chance = random.Random(seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder) / "log") as server,
        ForgedSession(server) as session,
    ):
        session.run()
        before = server.megabytes()
        for number in range(count):
            method, size = chance.choice(METHODS), chance.choice(SIZES)
            path = chance.choice(PATHS).format(session=session.id, file=number)
            begin = time.perf_counter()
            status = send(server, method, path, size)
            seconds = time.perf_counter() - begin
            now = server.megabytes()
            rise, before = max(0.0, now - before), max(now, before)
            why = ""
            if not 400 <= status < 500:
                why = f"answered with {status}"
            elif rise > MOST_MEGABYTES:
                why = f"memory rose by {rise:.0f} MB"
            name = f"{method} {path} of {size:,} bytes"
            yield Outcome(ENTRANCE, name, "bad" if why else "refused", why, seconds, rise)


def send(server: Server, method: str, path: str, size: int) -> int:
    """Send a multipart body of one file with the token that the server gave; the status.

    Args:
        server: where to.
        method: of the request.
        path: of the request.
        size: of the file, in bytes.
    """
    with urlopen(f"{server.address}/_stcore/health", timeout=10) as reply:
        cookie = (reply.headers.get("Set-Cookie") or "").split(";")[0]
    name = 'form-data; name="file"; filename="x"'
    begin = f"--x\r\nContent-Disposition: {name}\r\n\r\n".encode()
    body = begin + b"a" * size + b"\r\n--x--\r\n"
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    headers = {
        "Content-Type": "multipart/form-data; boundary=x",
        "Cookie": cookie,
        "X-Xsrftoken": cookie.partition("=")[2],
    }
    try:
        # refused before all of it was sent; the answer may be there
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, body, headers)
        return connection.getresponse().status
    except ConnectionError:  # the answer went with the connection
        return http.client.FORBIDDEN
    finally:
        connection.close()
