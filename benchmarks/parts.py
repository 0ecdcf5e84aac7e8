"""Measure what the run of a new sentence costs the processor, part by part."""

import argparse
import asyncio
import importlib
import json
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.machine import describe, table
from benchmarks.readers import ask, sentences, session
from tests.server import Server, running
from transformer.cli.arguments import whole_number

WARM_UP = 20
PARTS = {
    "search": ("transformer.decoding.beam", ("BeamSearch.__init__", "BeamSearch.step")),
    "trace": ("transformer.translator", ("capture",)),
    "findings": ("viz.app.sentence.worth_seeing", ("ranked",)),
    "maps and roles": ("viz.draw.heads_view", ("HeadsView.part", "open_head.heads_of_kind")),
    "packing": ("viz.draw.heads_view", ("encode_grid", "attention_map.encode_map")),
    "size of what is cached": ("viz.app.cache.memory", ("size_of",)),
    "the page otherwise, with Streamlit": (
        "streamlit.runtime.scriptrunner.script_runner", ("ScriptRunner._run_script",),
    ),
}  # fmt: skip
"""Functions of each part, where they are looked up; a part is without the parts that it calls."""

EVENT_LOOP, WHOLE = "event loop and HTTP", "the whole process"


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks parts`."""
    parser = commands.add_parser("parts", help="what a new sentence costs the server, by part")
    parser.add_argument("--page", default="heads", help="path of the page")
    parser.add_argument("--sentences", type=whole_number(1, 500), default=100)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Ask for new sentences, then for the same ones again, and print the milliseconds of each."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running(["benchmarks.parts", "{port}"], log=Path(folder) / "log") as server,
    ):
        new, known = asyncio.run(_ask(server, options.page, options.sentences))
    print(f"{describe()}, page /{options.page}, milliseconds of the processor for a sentence\n")
    rows = [
        [name, *(f"{1e3 * times.get(name, 0) / options.sentences:.1f}" for times in (new, known))]
        for name in new
    ]
    print(table(["", "new", "remembered"], rows))


async def _ask(server: Server, page: str, count: int) -> tuple[dict[str, float], dict[str, float]]:
    texts = [text for text, _ in zip(sentences(), range(WARM_UP + count), strict=False)]
    spent = []
    async with session(server.address.replace("http", "ws")) as reader:
        hashes: dict[str, None] = {}
        for part in (texts[:WARM_UP], texts[WARM_UP:], texts[WARM_UP:]):
            before = await _times(server)
            for text in part:
                await ask(reader, page, text, "", hashes)
            after = await _times(server)
            spent.append({name: after[name] - before.get(name, 0) for name in after})
    return spent[1], spent[2]


async def _times(server: Server) -> dict[str, float]:
    """Return the seconds of each part so far, once the server has come to rest."""
    await asyncio.sleep(0.5)
    server.process.send_signal(signal.SIGUSR1)
    await asyncio.sleep(0.5)
    line = server.log.read_text("utf-8").rstrip().rpartition("\n")[2]
    times: dict[str, float] = json.loads(line)
    return {**times, WHOLE: server.processor_time()}


class Clock:
    """Seconds of the processor by part, each without the parts that it calls."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._inner = threading.local()  # seconds of the parts within each, of this thread

    def watch(self) -> None:
        """Put a watched function in the place of each of a part."""
        for part, (module, names) in PARTS.items():
            for name in names:
                *classes, function = name.split(".")
                owner: Any = importlib.import_module(module)
                for class_ in classes:
                    owner = getattr(owner, class_)
                setattr(owner, function, self._watched(part, getattr(owner, function)))

    def _watched(self, part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **named: Any) -> Any:
            inner = self._inner.__dict__.setdefault("seconds", [])
            inner.append(0.0)
            began = time.thread_time()
            try:
                return call(*arguments, **named)
            finally:
                spent = time.thread_time() - began
                self.seconds[part] += spent - inner.pop()
                if inner:
                    inner[-1] += spent

        return watched

    def print(self, *_: object) -> None:
        """Print all seconds as one line of JSON; called in the thread of the event loop."""
        print(json.dumps({**self.seconds, EVENT_LOOP: time.thread_time()}), flush=True)


def _serve(port: str) -> None:
    """Serve the app with its parts watched, and print their seconds at each SIGUSR1."""
    from streamlit.web.cli import main as streamlit

    clock = Clock()
    clock.watch()
    signal.signal(signal.SIGUSR1, clock.print)
    streamlit(["run", "app.py", f"--server.port={port}"])


if __name__ == "__main__":
    _serve(sys.argv[1])
