"""The caches of a server, asked over its websocket."""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.readers import ask, session
from tests.browser.servers import APP, served
from viz.app.models.menu import CHECKPOINT_VARIABLE

T = TypeVar("T")

SENTENCE = "The dog sings."
TRACED = "a sentence was traced"
LOGGING = f"""
import streamlit as st
from transformer import Translator
from viz.app import served

trace_of = Translator.trace_of

def trace_and_log(self, *arguments, **options):
    print({TRACED!r}, flush=True)
    return trace_of(self, *arguments, **options)

Translator.trace_of = trace_and_log
app = st.App({str(APP)!r}, routes=served.routes(), lifespan=served.lifespan)
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served") / "log"


@pytest.fixture(scope="module")
def host(log: Path, trained_folder: Path) -> Iterator[str]:
    script = log.with_name("logging_app.py")
    script.write_text(LOGGING, "utf-8")
    with served(script, log, {CHECKPOINT_VARIABLE: str(trained_folder)}) as address:
        yield address.replace("http", "ws")


def _run(question: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a thread: Playwright leaves a loop running in a worker's own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, question).result()


@pytest.mark.slow
def test_no_session_empties_the_caches_of_others(host, log, translator) -> None:
    translation = translator.translate(SENTENCE).text

    async def read() -> None:
        async with session(host) as first, session(host) as second:
            await ask(first, "heads", SENTENCE, translation, {})
            await ask(second, "heads", SENTENCE, translation, {})
            await second.send(BackMsg(clear_cache=True).SerializeToString())
            await ask(second, "heads", SENTENCE, translation, {})
            await ask(first, "heads", SENTENCE, translation, {})

    _run(read())
    assert log.read_text("utf-8").count(TRACED) == 1
