"""Many people at the app at the same time: how long each waits."""

import argparse
import asyncio
import itertools
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlencode

import torch
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.machine import describe
from tests.server import MAX_MESSAGE, Server, served
from transformer import HeadlightError, InputError, Translator
from transformer.cli.arguments import number, whole_number
from viz.draw.labels import PAGE_TITLES

PEOPLE = ("A young man", "An old woman", "A small boy", "A tall girl", "The teacher", "My brother")
DOINGS = ("is reading", "is selling", "is painting", "is carrying", "is washing", "is looking for")
THINGS = ("a book", "a chair", "a red bicycle", "an umbrella", "a heavy box", "a kite")
PLACES = ("in the garden", "at the station", "on the beach", "in front of the house", "by the lake")
ENDS = (
    "", "today", "again", "every day", "tonight", "with a friend", "after school", "in the morning",
)  # fmt: skip
LONGEST = 60.0  # seconds until an answer has to be there
OTHERS = 10  # sentences of other readers that an answer is searched for

REPORT = 15.0  # seconds between two lines on memory and processor

EVERY = "every"
PAGES = [path if number_ else "" for number_, path in enumerate(PAGE_TITLES)]
Pair: TypeAlias = tuple[str, str]
"""A sentence and its translation."""

KEPT = 400  # messages whose hashes a browser sends along, so that they do not come again; at most


class NoAnswer(HeadlightError):
    """The app did not answer as it should."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks readers`."""
    parser = commands.add_parser("readers", help="many people at the app at the same time")
    parser.add_argument("--readers", type=whole_number(1), nargs="+", default=[40])
    parser.add_argument(
        "--every", type=number(0.1, 3_600), default=5.0, help="mean seconds of thought"
    )
    parser.add_argument(
        "--seconds", type=number(1, 86_400), default=60.0, help="how long for each number"
    )
    parser.add_argument(
        "--page", choices=[*PAGES, EVERY], default="heads", help="or one page after the other"
    )
    parser.add_argument("--address", help="of an app that runs, such as several behind HAProxy")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Let readers ask for sentences, and print how long they wait."""
    count = 1 + max(2, int(options.seconds / options.every))  # of each; the first opens the page
    texts = list(sentences())
    if sum(options.readers) * count > len(texts):
        raise InputError(
            f"{sum(options.readers) * count:,} sentences are needed and {len(texts):,} are there: "
            f"lower --readers or --seconds."
        )
    print(f"{describe()}, page /{options.page}, {options.every:g} s of thought")
    torch.set_num_threads(1)
    translator = Translator.load()
    pages = PAGES if options.page == EVERY else [options.page]
    for readers in options.readers:
        lines, texts = texts[: readers * count], texts[readers * count :]
        pairs = list(zip(lines, translator.translate_lines(lines), strict=True))
        mine = [pairs[i::readers] for i in range(readers)]
        if options.address:
            waits, spent = asyncio.run(_all(options.address, pages, mine, options.every)), ""
        else:
            with served() as server:
                waits, spent = _watched(server, pages, mine, options.every)
        print(
            f"{readers} at once, {len(pairs)} sentences: translation after "
            f"{_shown([wait.translation for wait in waits])}, page complete after "
            f"{_shown([wait.page for wait in waits])}{spent}",
            flush=True,
        )


def sentences() -> Iterator[str]:
    """Draw sentences that all differ, so that no cache answers."""
    every = list(itertools.product(PEOPLE, DOINGS, THINGS, PLACES, ENDS))
    random.Random(0).shuffle(every)
    return (" ".join(filter(None, words)) + "." for words in every)


def _shown(seconds: Sequence[float]) -> str:
    """Median, and what 19 of 20 stay within; of fewer than 20, the largest."""
    if len(seconds) < 20:
        return f"{statistics.median(seconds):.2f} s (largest {max(seconds):.2f})"
    within = statistics.quantiles(seconds, n=20, method="inclusive")[-1]
    return f"{statistics.median(seconds):.2f} s (95 % within {within:.2f})"


@dataclass(frozen=True)
class Wait:
    """Seconds from a sentence to its translation, and to the whole page."""

    translation: float
    page: float


def _watched(
    server: Server, pages: Sequence[str], pairs: Sequence[list[Pair]], every: float
) -> tuple[list[Wait], str]:
    """Ask a server of our own; with the waits, the processor time of a sentence in words."""

    async def all_and_watch() -> list[Wait]:
        watch = asyncio.create_task(_watch(server))
        waits = await _all(server.address, pages, pairs, every)
        watch.cancel()
        return waits

    before = server.processor_time()
    waits = asyncio.run(all_and_watch())
    spent = 1e3 * (server.processor_time() - before) / sum(map(len, pairs))
    return waits, f"; {spent:.0f} ms of processor time each"


async def _all(
    address: str, pages: Sequence[str], pairs: Sequence[list[Pair]], every: float
) -> list[Wait]:
    """All readers at the same time, each with lines and translations of its own."""
    every_pair = [pair for mine in pairs for pair in mine]
    readers = (
        _read(address, pages, mine, every_pair, every, random.Random(seed))
        for seed, mine in enumerate(pairs)
    )
    return [wait for waits in await asyncio.gather(*readers) for wait in waits]


async def _watch(server: Server) -> None:
    """Print memory and processor time of the server from time to time."""
    before = server.processor_time()
    while True:
        await asyncio.sleep(REPORT)
        now = server.processor_time()
        print(f"  {server.megabytes():,.0f} MiB, {(now - before) / REPORT:.2f} cores", flush=True)
        before = now


async def _read(
    address: str,
    pages: Sequence[str],
    pairs: list[Pair],
    every_pair: Sequence[Pair],
    every: float,
    draw: random.Random,
) -> list[Wait]:
    """One reader: opens the page, then asks for one sentence after another."""
    waits = []
    await asyncio.sleep(draw.uniform(0, 2 * every))
    async with session(address) as server:
        hashes: dict[str, None] = {}
        for number_, (line, translation) in enumerate(pairs):
            others = [text for text, _ in draw.sample(every_pair, OTHERS) if text != line]
            page = pages[number_ % len(pages)]
            wait = await ask(server, page, line, translation, hashes, others)
            if number_:  # the first opens the page
                waits.append(wait)
            await asyncio.sleep(draw.uniform(0, 2 * every))
    return waits


def session(address: str) -> connect:
    """Open a session of the server at an address, as a new tab does; a context manager."""
    return connect(
        f"{address.replace('http', 'ws')}/_stcore/stream",
        subprotocols=["streamlit"],  # type: ignore[list-item]
        max_size=MAX_MESSAGE,
        ping_interval=None,
    )


async def ask(
    server: ClientConnection,
    page: str,
    text: str,
    translation: str,
    hashes: dict[str, None],
    others: Sequence[str] = (),
) -> Wait:
    """Ask for the page of a sentence, as Back does, and wait for all of it."""
    asked = BackMsg()
    asked.rerun_script.query_string = urlencode({"text": text})
    asked.rerun_script.page_name = page
    asked.rerun_script.is_history_navigation = True
    asked.rerun_script.cached_message_hashes.extend(list(hashes)[-KEPT:])
    began = time.monotonic()
    await server.send(asked.SerializeToString())
    seen, sought = 0.0, translation.encode()
    try:
        async with asyncio.timeout(LONGEST):
            async for message in server:
                assert isinstance(message, bytes)  # of a protocol buffer
                if not seen and sought in message:
                    seen = time.monotonic() - began
                for other in others:
                    if other.encode() in message:
                        raise NoAnswer(f"The answer to {text!r} has {other!r}.")
                reply = ForwardMsg.FromString(message)
                if reply.hash:
                    hashes[reply.hash] = None
                if reply.WhichOneof("type") == "script_finished":
                    break
    except TimeoutError as error:
        raise NoAnswer(f"The app did not answer {text!r} within {LONGEST:g} s.") from error
    if not seen:
        raise NoAnswer(f"The app did not answer {text!r} with {translation!r}.")
    return Wait(seen, time.monotonic() - began)
