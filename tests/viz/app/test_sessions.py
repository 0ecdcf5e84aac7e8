"""Open tabs of a client are bounded and logged."""

import asyncio
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from viz.app import sessions
from viz.app.sessions import BoundedSessions


def test_a_client_has_some_tabs_and_another_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_TABS", 2)
    logged: list[str] = []
    monkeypatch.setattr(sessions._LOG, "info", lambda text, *values: logged.append(text % values))
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

        async def opened(address: str) -> asyncio.Task[None]:
            scope = {"type": "websocket", "client": (address, 1)}
            task = asyncio.create_task(tabs(scope, receive, send))
            await asyncio.sleep(0)
            return task

        tasks = [await opened("10.0.0.7") for _ in range(3)] + [await opened("10.0.0.8")]
        leave.set()
        ended = await asyncio.gather(*tasks, await opened("10.0.0.7"), return_exceptions=True)
        assert [*map(type, ended)].count(ConnectionError) == 4
        assert not tabs._open

    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, visit()).result()
    assert sent == ["accept", "accept", "close", "accept", "accept"]
    assert [line for line in logged if "begins" in line] == [
        f"session {number} begins" for number in range(1, 5)
    ]
    ends = [line for line in logged if " ends after 0 s; results " in line]
    assert len(ends) == 4
    assert all(line.endswith(" MiB") for line in ends)
