"""The objects that the server searches for garbage: few."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import MutableMapping
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

import pytest

from tests.forkserver import forkserver


def _serve(answer: Connection) -> None:
    """The number of objects that are searched before the app is served, and while it is."""
    from app import app

    gc.unfreeze()  # as it would be without the fork server
    counts = [len(gc.get_objects())]

    async def serve() -> None:
        asked: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

        async def said(message: MutableMapping[str, Any]) -> None:
            assert message["type"] in ("lifespan.startup.complete", "lifespan.shutdown.complete")
            if message["type"] == "lifespan.startup.complete":
                counts.append(len(gc.get_objects()))
                await asked.put({"type": "lifespan.shutdown"})

        await asked.put({"type": "lifespan.startup"})
        await app({"type": "lifespan"}, asked.get, said)

    asyncio.run(serve())
    answer.send(counts)


def test_what_was_imported_is_not_searched_while_the_app_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # what `AppTest` ran last stands there, and a new process would run it, too
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    answer, to_answer = forkserver().Pipe(duplex=False)
    process = forkserver().Process(target=_serve, args=(to_answer,))
    process.start()
    assert answer.poll(60)
    before, served = answer.recv()
    process.join()
    assert before > 200_000
    assert served < before / 20
