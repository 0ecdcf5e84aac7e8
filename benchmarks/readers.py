"""Many people at the app at the same time: how long each waits."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.machine import describe
from benchmarks.server import LARGEST_MESSAGE, served
from transformer import HeadlightError, InputError, Translator
from transformer.cli.arguments import number, whole_number

PEOPLE = ("A young man", "An old woman", "A small boy", "A tall girl", "The teacher", "My brother")
DOINGS = ("is reading", "is selling", "is painting", "is carrying", "is washing", "is looking for")
THINGS = ("a book", "a chair", "a red bicycle", "an umbrella", "a heavy box", "a kite")
PLACES = ("in the garden", "at the station", "on the beach", "in front of the house", "by the lake")
LONGEST = 60.0  # seconds until an answer has to be there
KEPT = 400
"""Messages whose hashes a browser sends along, so that they do not come again; at most."""


class NoAnswer(HeadlightError):
    """The app did not answer as it should."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks readers`."""
    parser = commands.add_parser("readers", help="many people at the app at the same time")
    parser.add_argument("--readers", type=whole_number(1), nargs="+", default=[1, 10, 30, 60])
    parser.add_argument(
        "--every", type=number(0.1, 3_600), default=10.0, help="mean seconds between sentences"
    )
    parser.add_argument(
        "--seconds", type=number(1, 86_400), default=40.0, help="how long for each number"
    )
    parser.add_argument("--page", default="", help="path of the page; Translate if it is not given")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Let more and more readers type sentences of their own, and print how long they wait.

    Raises:
        InputError: if there are not enough sentences for so many.
        NoAnswer: if the app takes too long, or its answer is not the translation.
    """
    count = 1 + max(2, int(options.seconds / options.every))  # of each; the first opens the page
    most = len(PEOPLE) * len(DOINGS) * len(THINGS) * len(PLACES)
    if sum(options.readers) * count > most:
        raise InputError(
            f"{sum(options.readers) * count:,} sentences are needed and {most:,} are there: lower "
            f"--readers or --seconds."
        )
    print(f"{describe()}, page /{options.page}, a sentence every {options.every:g} s from each")
    translator = Translator.load()
    texts = sentences()
    for readers in options.readers:
        lines = [[next(texts) for _ in range(count)] for _ in range(readers)]
        wanted = [list(translator.translate_lines(mine)) for mine in lines]
        pairs = [list(zip(*both, strict=True)) for both in zip(lines, wanted, strict=True)]
        with served() as server:
            waits = asyncio.run(_all(server.address, options.page, pairs, options.every))
        print(
            f"{readers} at once, {len(waits)} sentences: translation after "
            f"{_shown([wait.translation for wait in waits])}, page complete after "
            f"{_shown([wait.page for wait in waits])}",
            flush=True,
        )


def sentences() -> Iterator[str]:
    """Draw sentences that all differ, so that no cache answers."""
    every = list(itertools.product(PEOPLE, DOINGS, THINGS, PLACES))
    random.Random(0).shuffle(every)
    return (" ".join(words) + "." for words in every)


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


async def _all(
    address: str, page: str, pairs: Sequence[list[tuple[str, str]]], every: float
) -> list[Wait]:
    """All readers at the same time, each with lines and translations of its own."""
    host = address.replace("http", "ws")
    readers = (
        _read(host, page, mine, every, random.Random(seed)) for seed, mine in enumerate(pairs)
    )
    return [wait for waits in await asyncio.gather(*readers) for wait in waits]


async def _read(
    host: str, page: str, pairs: list[tuple[str, str]], every: float, draw: random.Random
) -> list[Wait]:
    """One reader: opens the page, then asks for one sentence after another."""
    first, *others = pairs
    waits = []
    async with session(host) as server:
        hashes: dict[str, None] = {}
        await ask(server, page, *first, hashes)
        for line in others:
            await asyncio.sleep(draw.uniform(0, 2 * every))
            waits.append(await ask(server, page, *line, hashes))
    return waits


def session(host: str) -> connect:
    """Open a session of a server, as a new tab does; a context manager.

    Args:
        host: address of the server, with `ws` in the place of `http`.
    """
    return connect(
        f"{host}/_stcore/stream",
        subprotocols=["streamlit"],  # type: ignore[list-item]
        max_size=LARGEST_MESSAGE,
        ping_interval=None,
    )


async def ask(
    server: ClientConnection, page: str, text: str, translation: str, hashes: dict[str, None]
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
