"""Open tabs are bounded."""

import asyncio
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from viz.app import sessions
from viz.app.sessions import BoundedSessions


def test_open_tabs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "most_descriptors", lambda: 3 * sessions.TAB)
    sent: list[str] = []

    async def session(_scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})
        await receive()
        raise ConnectionError

    async def visit() -> None:
        leave = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await leave.wait()
            return {"type": "websocket.receive", "bytes": b""}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message["type"].removeprefix("websocket."))

        tabs = BoundedSessions(session)

        async def opened() -> asyncio.Task[None]:
            task = asyncio.create_task(tabs({"type": "websocket"}, receive, send))
            await asyncio.sleep(0)
            return task

        tasks = [await opened() for _ in range(4)]
        leave.set()
        ended = await asyncio.gather(*tasks, await opened(), return_exceptions=True)
        assert [*map(type, ended)].count(ConnectionError) == 4
        assert not tabs._open

    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, visit()).result()
    assert sent == ["accept", "accept", "accept", "close", "accept"]
