"""Connections that ask nothing end, and make room for those that ask."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import uvicorn
from websockets.sync.client import connect

from viz.app import log, served
from viz.app.served import BoundedConnection, answer_headers

GET = b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n"


async def echo(scope, receive, send) -> None:
    """Answer after the seconds that the path names, and send back what a WebSocket says."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": (await receive())["text"]})
        return
    await asyncio.sleep(float(scope["path"].strip("/") or 0))
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], socket.socket]]:
    """Open a connection to a server and send some bytes."""
    monkeypatch.setattr(served, "REQUEST_SECONDS", 0.4)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        echo, http=BoundedConnection, ws="websockets-sansio", lifespan="off", log_level="error"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    opened = []

    def send(content: bytes) -> socket.socket:
        connection = socket.create_connection(listening.getsockname(), timeout=5)
        connection.sendall(content)
        opened.append(connection)
        return connection

    yield send
    server.should_exit = True
    for connection in opened:
        connection.close()
    thread.join(10)


def ended(connection: socket.socket, seconds: float) -> bool:
    """Return whether the other side ends a connection within some time."""
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


def test_what_asks_nothing_ends_and_what_asks_is_answered(ask) -> None:
    silent, half, slow = ask(b""), ask(b"GET / HT"), ask(GET % b"1.2")
    second = ask(GET % b"0")
    assert second.recv(9_999).startswith(b"HTTP/1.1 204")
    second.sendall(b"GET /")  # and never the rest
    port = silent.getpeername()[1]
    with connect(f"ws://127.0.0.1:{port}/") as web_socket:
        for connection in (silent, half, second):
            assert ended(connection, 2)
        assert slow.recv(9_999).startswith(b"HTTP/1.1 204")
        web_socket.send("later")
        assert web_socket.recv() == "later"


def test_a_full_server_ends_those_that_are_silent_for_longest(ask, monkeypatch) -> None:
    monkeypatch.setattr(served, "REQUEST_SECONDS", 60)
    monkeypatch.setattr(served, "most_descriptors", lambda: 8)
    logged: list[object] = []
    monkeypatch.setattr("viz.app.log._LOG.warning", lambda *words: logged.append(words[1]))
    log._refused.clear()
    slow = ask(GET % b"1.5")
    silent = [ask(b"") for _ in range(20)]
    began = time.monotonic()
    assert ask(GET % b"0").recv(9_999).startswith(b"HTTP/1.1 204")
    assert time.monotonic() - began < 1
    are_ended = [ended(connection, 0.2) for connection in silent]
    assert sum(are_ended) == 14
    assert all(are_ended[:10])
    assert slow.recv(9_999).startswith(b"HTTP/1.1 204")
    assert 1 <= len(logged) < 5  # for fourteen, one line a second
    assert {*logged} == {"too many connections"}


def test_what_is_no_request_gets_the_headers_of_every_answer(ask) -> None:
    connection = ask(b"GET / HTTP/1.1\r\nHost: \x00\r\n\r\n")
    answer = b""
    while part := connection.recv(9_999):
        answer += part
    status, *lines = answer.decode().split("\r\n")
    assert status.startswith("HTTP/1.1 400")
    headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
    expected = {name.lower(): value.lower() for name, value in answer_headers().items()}
    assert expected.items() <= headers.items()
    assert len(expected) == 4
