"""A server that has answered thousands of sentences beside a fresh one: processor time of each."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.browser import server
from benchmarks.machine import describe
from benchmarks.readers import ask, sentences, session
from transformer import InputError, Translator
from transformer.cli.arguments import whole_number

PAGE = "heads"
TIMES = ("", " today", " again", " every day")
"""Ends of the sentences of `readers`, which alone are fewer than are needed."""

WARM_UP = 10
"""Sentences that the fresh server has answered before it is measured."""

OF_A_SESSION = 10
"""Sentences that a reader asks for before another one comes."""

BLOCK = 250
"""Sentences between two lines of the output, while a server ages."""

TICK = 1 / os.sysconf("SC_CLK_TCK")  # seconds
MIB = 2**20


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks age`."""
    parser = commands.add_parser("age", help="a server of many sentences beside a fresh one")
    parser.add_argument(
        "--sentences",
        type=whole_number(WARM_UP),
        default=3_000,
        help="that the old server has answered",
    )
    parser.add_argument(
        "--turns", type=whole_number(1), default=40, help="new and remembered sentences to compare"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Age a server, then ask it and a fresh one in turn for new and remembered sentences.

    Raises:
        InputError: if there are not enough sentences.
        NoAnswer: if a server takes too long, or its answer is not the translation.
    """
    texts = [text.replace(".", f"{when}.") for when, text in itertools.product(TIMES, sentences())]
    random.Random(1).shuffle(texts)
    if (needed := options.sentences + options.turns) > len(texts):
        raise InputError(
            f"{needed:,} sentences are needed and {len(texts):,} are there: lower --sentences or "
            f"--turns."
        )
    print(f"{describe()}, page /{PAGE}, a session for every {OF_A_SESSION} sentences")
    aged, new = texts[: options.sentences], texts[options.sentences :][: options.turns]
    with server() as old, server() as fresh:
        asyncio.run(_measure(_Side(*old), _Side(*fresh), aged, new))


@dataclass(frozen=True)
class _Side:
    """One of the two servers.

    Args:
        address: with `http`.
        process: its number.
    """

    address: str
    process: int

    def processor_time(self) -> float:
        """Processor time of all threads of the server so far, in seconds."""
        fields = Path(f"/proc/{self.process}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK

    def memory(self) -> int:
        """Resident memory of the server, in bytes."""
        pages = Path(f"/proc/{self.process}/statm").read_text("utf-8").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    async def settled(self) -> float:
        """Wait until the server does nothing; give its processor time, in seconds.

        A run is not over with its last message: the server cleans up after it.
        """
        before = self.processor_time()
        while True:
            await asyncio.sleep(0.1)
            now = self.processor_time()
            if now - before < 2 * TICK:
                return now
            before = now

    async def cost(self, question: Callable[[], Awaitable[object]]) -> float:
        """Measure the processor time of a question, in seconds."""
        before = await self.settled()
        await question()
        return await self.settled() - before


async def _measure(old: _Side, fresh: _Side, aged: Sequence[str], new: Sequence[str]) -> None:
    translator = Translator.load()
    await _age(fresh, aged[:WARM_UP])
    await _age(old, aged, report=True)
    # both have answered these, and the old one lately enough to remember them
    known = aged[-WARM_UP:]
    await _age(fresh, known)
    costs: dict[tuple[str, str], list[float]] = {}
    for number, text in enumerate(new):
        for kind, sentence in (("new", text), ("remembered", known[number % len(known)])):
            for name, side in (("old", old), ("fresh", fresh)):

                async def question(side: _Side = side, sentence: str = sentence) -> None:
                    async with session(side.address.replace("http", "ws")) as reader:
                        await ask(reader, PAGE, sentence, translator.translate(sentence).text, {})

                costs.setdefault((kind, name), []).append(await side.cost(question))
    for kind in ("new", "remembered"):
        means = {name: statistics.mean(costs[kind, name]) for name in ("old", "fresh")}
        print(
            f"{kind} sentences, mean of {len(new)}: old {means['old']:.3f} s, "
            f"fresh {means['fresh']:.3f} s of processor time, "
            f"{means['old'] / means['fresh']:.2f} times"
        )


async def _age(side: _Side, texts: Sequence[str], *, report: bool = False) -> None:
    """Let readers, one after another, ask a server for sentences.

    Args:
        report: print processor time and memory after each block of sentences.
    """
    host = side.address.replace("http", "ws")
    asked, before = 0, await side.settled()
    for start in range(0, len(texts), OF_A_SESSION):
        async with session(host) as reader:
            hashes: dict[str, None] = {}
            for text in texts[start : start + OF_A_SESSION]:
                await ask(reader, PAGE, text, "", hashes)
                asked += 1
        if report and asked % BLOCK < OF_A_SESSION:
            now = await side.settled()
            print(
                f"after {asked:,} sentences: {(now - before) / BLOCK:.3f} s of processor time "
                f"each, {side.memory() / MIB:,.0f} MiB",
                flush=True,
            )
            before = now
