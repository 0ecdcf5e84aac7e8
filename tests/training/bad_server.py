"""A server on the loopback address that misbehaves as it is told."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@dataclass
class Server:
    """Serves `files`; each entry of `mischief` spoils one answer, in order.

    A number answers with that error, `drop` ends the connection in the middle of the file and
    `reversed` sends other bytes.
    """

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    mischief: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)  # the path of each request

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        mischief = self.mischief.pop(0) if self.mischief else ""
        self.asked.append(request.path)
        body = self.files.get(request.path)
        if body is None or mischief.isdecimal():
            return request.send_error(404 if body is None else int(mischief))
        if mischief == "reversed":
            body = body[::-1]
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: len(body) // 2] if mischief == "drop" else body)
        return None


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time.sleep", lambda _seconds: None)  # between two attempts
    served = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
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
