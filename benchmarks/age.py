"""One server for a long time: its memory and its answers at the end and at the beginning."""

import argparse
import asyncio
import itertools
import random
import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from benchmarks import machine, readers
from tests.server import Server, headlight_app
from transformer.cli.arguments import whole_number
from viz.figures.axes import GREY, VIOLET

READERS = 2  # readers at the same time, as many as there are cores

BLOCKS = 20
MAX_GROWTH = 1.25
"""Times by which memory beside the bounded caches, and seconds of a page, may grow."""


@dataclass(frozen=True)
class Block:
    """Many pages of new sentences, one after another."""

    pages: int  # drawn so far
    sessions: int  # so far
    memory: float  # resident, MiB
    bounded: float
    p50: float  # seconds until a page was complete
    p95: float

    @property
    def unbounded(self) -> float:
        """Memory beside the caches that have a bound, in MiB."""
        return self.memory - self.bounded


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks age`."""
    parser = commands.add_parser("age", help="one server for thousands of sentences and pages")
    parser.add_argument(
        "--pages", type=whole_number(2 * BLOCKS), default=5_000, help="each for a new sentence"
    )
    parser.add_argument("--sessions", type=whole_number(BLOCKS), default=500)
    parser.add_argument(
        "--save", type=Path, metavar="PATH", help="writes PATH.csv, and the plot as PATH.svg"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Let sessions come and go, each on all pages; the status is 1 if memory or seconds grew."""
    print(f"{machine.describe()}, {READERS} readers at a time")
    began, blocks = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder, headlight_app(Path(folder, "log")) as server:
        for block in _blocks(server, options.pages, options.sessions):
            blocks.append(block)
            print(
                f"{block.pages:,} pages, {block.sessions:,} sessions: {block.memory:,.0f} MiB, "
                f"{block.unbounded:,.0f} beside the caches; p50 {block.p50:.2f} s, "
                f"p95 {block.p95:.2f} s",
                flush=True,
            )
    if options.save:
        _write(blocks, options.save)
    grown = growth(blocks)
    print(
        f"{time.monotonic() - began:.0f} s; the last fifth beside the second fifth: "
        + ", ".join(f"{name} {times:.2f} times" for name, times in grown.items())
    )
    return int(max(grown.values()) > MAX_GROWTH)


def growth(blocks: Sequence[Block]) -> dict[str, float]:
    """Return how many times larger the last fifth of the blocks is than the second.

    In the first fifth every page is drawn for the first time.
    """
    fifth = len(blocks) // 5
    early, late = blocks[fifth : 2 * fifth], blocks[-fifth:]
    return {
        name: statistics.median(getattr(block, name) for block in late)
        / statistics.median(getattr(block, name) for block in early)
        for name in ("unbounded", "p50", "p95")
    }


def _blocks(server: Server, pages: int, sessions: int) -> Iterator[Block]:
    texts = itertools.cycle(list(readers.sentences()))  # by then no cache has the first of them
    draw = random.Random(2)
    for block in range(1, BLOCKS + 1):
        visits = [
            [(page, next(texts)) for page in _route(draw, pages, sessions)]
            for _ in range(sessions // BLOCKS)
        ]
        seconds = asyncio.run(_let_come_and_go(server.address.replace("http", "ws"), visits, draw))
        within = statistics.quantiles(seconds, n=20, method="inclusive")
        yield Block(
            block * len(seconds), block * len(visits), server.megabytes(),
            _cached(server), within[9], within[-1],
        )  # fmt: skip


def _route(draw: random.Random, pages: int, sessions: int) -> list[str]:
    """Draw the pages of a session, each as often as any other."""
    count = max(1, pages // sessions)
    return [
        page
        for start in range(0, count, len(readers.PAGES))
        for page in draw.sample(readers.PAGES, min(len(readers.PAGES), count - start))
    ]


async def _let_come_and_go(
    host: str, visits: Sequence[list[tuple[str, str]]], draw: random.Random
) -> list[float]:
    """Let sessions visit their pages, a few at a time; return the seconds of each page."""
    free, seconds = asyncio.Semaphore(READERS), []

    async def visit(pages: list[tuple[str, str]], vanishes: bool) -> None:
        async with free, readers.session(host) as reader:
            hashes: dict[str, None] = {}
            for page, text in pages:
                seconds.append((await readers.ask(reader, page, text, "", hashes)).page)
            if vanishes:  # as a browser that loses its network
                reader.transport.abort()

    await asyncio.gather(*(visit(pages, draw.random() < 0.5) for pages in visits))
    return seconds


def _cached(server: Server) -> float:
    """Return the MiB of the server's caches and models, as its log has them last."""
    held = re.findall(r"results (\d+) MiB, models (\d+) MiB", server.log.read_text("utf-8"))
    if not held:
        raise readers.NoAnswer("The log of the server does not say what its caches hold.")
    return sum(map(int, held[-1]))


def _write(blocks: Sequence[Block], path: Path) -> None:
    """Write the blocks as a table, and their plot as SVG."""
    import vl_convert  # of the extra `notebook`

    rows = pd.DataFrame([{**asdict(block), "unbounded": block.unbounded} for block in blocks])
    rows.round(3).to_csv(path.with_suffix(".csv"), index=False)
    path.with_suffix(".svg").write_text(vl_convert.vegalite_to_svg(plot(rows).to_dict()), "utf-8")


def plot(rows: pd.DataFrame) -> alt.VConcatChart:
    """Plot memory and seconds against the pages that a server has drawn, from fields of `Block`."""
    charts = []
    for title, names in (
        ("MiB", {"memory": "all memory", "unbounded": "beside the caches"}),
        ("seconds to a page", {"p95": "95 % within", "p50": "median"}),
    ):
        colors = alt.Scale(domain=[*names.values()], range=[GREY, VIOLET])
        base = alt.Chart(
            rows.rename(columns=names).melt("pages", [*names.values()], "name")
        ).encode(
            alt.X("pages:Q", title="pages drawn"),
            alt.Y("value:Q", title=title, scale=alt.Scale(zero=True)),
            alt.Color("name:N", title=None, scale=colors),
        )
        charts.append(base.mark_line(point=True).properties(width=560, height=170))
    return alt.vconcat(*charts).resolve_scale(color="independent").configure(background="white")
