"""Open tabs are counted, and the metrics are read on this machine alone, unless it is allowed."""

import asyncio
from collections.abc import Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.requests import Request

from viz.app import monitoring
from viz.app.cache.memory import forget_server_wide, shared_cache
from viz.app.cache.metrics import metrics
from viz.app.monitoring import METRICS_VARIABLE, CountedSessions, answer


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    forget_server_wide()
    monkeypatch.setattr(
        "viz.app.streamlit_internals.uploaded_bytes", lambda: {"mine": 8, "other": 9}
    )
    monkeypatch.delenv(METRICS_VARIABLE, raising=False)
    yield
    forget_server_wide()


def asked(host: str = "127.0.0.1", **headers: str) -> Request:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    pairs = [(name.encode(), value.encode()) for name, value in names.items()]
    return Request({"type": "http", "client": (host, 1), "headers": pairs})


def test_the_metrics_are_for_whoever_has_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    token = "0123456789abcdef"
    right = asked(authorization=f"Bearer {token}")
    # a proxy on this machine may add no header
    others = asked(), asked("10.0.0.7"), asked(authorization="Bearer x"), asked(authorization="")
    for opened, expected in (("", {404}), ("0", {404}), ("x", {404}), (token, {404}), ("1", {200})):
        monkeypatch.setenv(METRICS_VARIABLE, opened)
        assert {answer(request).status_code for request in others} == expected
        assert answer(right).status_code == (200 if opened in (token, "1") else 404)


def test_they_say_what_the_server_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(METRICS_VARIABLE, "1")
    shared_cache().get("key", lambda: "value")
    lines = bytes(answer(asked()).body).decode().splitlines()
    assert 'headlight_jobs{state="waiting"} 0.0' in lines
    assert 'headlight_bytes{holder="uploads"} 17.0' in lines
    assert f'headlight_bytes{{holder="results"}} {float(shared_cache().size)}' in lines
    (resident,) = [line for line in lines if line.startswith("process_resident_memory_bytes")]
    assert float(resident.split()[1]) > 10**7


def test_a_client_has_some_tabs_and_another_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitoring, "MAX_TABS", 2)
    sent: list[str] = []

    def open_tabs() -> float:
        return metrics().registry.get_sample_value("headlight_sessions_open") or 0

    async def session(_scope: Any, receive: Any, send: Any) -> None:
        before = open_tabs()
        await send({"type": "websocket.accept"})
        assert open_tabs() == before + 1
        await receive()
        raise ConnectionError

    async def visit() -> None:
        leave = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await leave.wait()
            return {"type": "websocket.receive", "bytes": b""}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message["type"].removeprefix("websocket."))

        tabs = CountedSessions(session)

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
    assert open_tabs() == 0
    assert metrics().registry.get_sample_value("headlight_sessions_total") == 4
