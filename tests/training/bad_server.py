"""A server on the loopback address that misbehaves as it is told."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from training import fetch
from training.fetch import Patience

BODY = b"".join(b"line %d\n" % number for number in range(40_000))  # some sockets full
QUARTER = len(BODY) // 4
TIMEOUT = 0.3


@dataclass
class Server:
    """Serves `files`; each entry of `mischief` spoils one answer, in order.

    A number answers with that error; otherwise any of these words: `drop` ends the connection after
    a quarter of the file, `stall` falls silent after half of it, `mute` at once, `slow` pauses,
    `reversed` sends other bytes, `deaf` ignores the range, `astray` sends another part.
    """

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    mischief: list[str] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)  # what each request asked for

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        mischief = self.mischief.pop(0).split() if self.mischief else []
        self.ranges.append(request.headers.get("Range"))
        body = self.files.get(request.path)
        if body is None or (mischief and mischief[0].isdecimal()):
            return request.send_error(404 if body is None else int(mischief[0]))
        if "reversed" in mischief:
            body = body[::-1]
        asked = 0 if "deaf" in mischief else int(re.sub(r"\D", "", self.ranges[-1] or "0"))
        if asked >= len(body):
            request.send_response(416)
            request.send_header("Content-Range", f"bytes */{len(body)}")
            return request.end_headers()
        start = asked // 2 if "astray" in mischief else asked
        request.send_response(206 if asked else 200)
        if asked:
            request.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        request.send_header("Content-Length", str(len(body) - start))
        request.end_headers()
        lengths = {"drop": QUARTER, "stall": 2 * QUARTER, "mute": 0}
        end = min([len(body), *(start + lengths[word] for word in mischief if word in lengths)])
        for at in range(start, end, QUARTER):
            request.wfile.write(body[at : min(at + QUARTER, end)])
            request.wfile.flush()
            time.sleep(0.1 if "slow" in mischief else 0)
        if {"stall", "mute"} & set(mischief):
            time.sleep(2 * TIMEOUT)
        return None


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(fetch, "PATIENCE", Patience(attempts=3, timeout=TIMEOUT, wait=0.01))
    served = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            # the other side hangs up on a line that has fallen silent
            with contextlib.suppress(ConnectionError):
                served.answer(self)

        def log_message(self, *_: object) -> None:
            pass

    http_server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.address = f"http://127.0.0.1:{http_server.server_port}"
    thread = threading.Thread(target=http_server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield served
    http_server.shutdown()
    http_server.server_close()
    thread.join()


def names(folder: Path) -> list[str]:
    """The files in a folder and those below it."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file())
