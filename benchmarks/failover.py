"""Servers behind a balancer that die, hang or restart: who loses the page, and for how long."""

import argparse
import asyncio
import http.client
import itertools
import os
import re
import signal
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import WebSocketException

from benchmarks.balanced import Balanced, balanced
from benchmarks.machine import describe, table
from benchmarks.readers import NoAnswer, ask, sentences, session
from tests.server import NoServer
from transformer import Translator
from transformer.cli.arguments import whole_number

PAGE = "heads"
LONGEST = 60.0  # seconds within which everybody must have the page back

PAUSE = 8.0  # seconds between two sentences of a reader

COOKIE = re.compile(r"SRV=(\w+)")


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks failover`."""
    parser = commands.add_parser("failover", help="servers behind HAProxy die, hang and restart")
    parser.add_argument("--sessions", type=whole_number(2, 200), default=20)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Kill, stop and restart servers under their readers, and print what became of these."""
    print(f"{describe()}, two processes behind HAProxy, {options.sessions} sessions of /{PAGE}")
    texts = list(sentences())
    translations = Translator.load().translate_lines(texts)
    pairs = itertools.cycle(list(zip(texts, translations, strict=True)))
    with balanced(2) as servers:
        asyncio.run(_all(servers, options.sessions, pairs))


class Reader:
    """Somebody at a browser, who reloads the page when its connection is lost."""

    def __init__(self, port: int, pairs: Iterator[tuple[str, str]], *, cookies: bool) -> None:
        self.port = port
        self.pairs = pairs
        self.cookies = cookies
        self.text, self.translation = next(pairs)
        self.server = ""  # as the cookie names it
        self.losses: list[float] = []  # seconds of the clock
        self.returns: list[float] = []
        self.waits: list[float] = []
        self.failed = 0  # reloads without a page
        self.socket: ClientConnection

    async def load(self) -> None:
        """Load the link with the sentence, until the page shows its translation."""
        end = time.monotonic() + LONGEST
        while True:
            try:
                await asyncio.to_thread(self.get)
                self.socket = await session(f"ws://127.0.0.1:{self.port}", self._cookie())
                await ask(self.socket, PAGE, self.text, self.translation, {})
                return
            except (OSError, NoAnswer, WebSocketException, http.client.HTTPException) as error:
                self.failed += 1
                if time.monotonic() > end:
                    raise NoServer(f"No page within {LONGEST:g} s: {error}") from error
                await asyncio.sleep(0.2)

    async def read(self) -> None:
        """Ask for one sentence after another, and reload where the connection is lost."""
        while True:
            try:
                async with asyncio.timeout(PAUSE):
                    await self.socket.wait_closed()
                lost = True
            except TimeoutError:
                lost = not await self._answered()
            if lost:
                self.losses.append(time.monotonic())
                await self.load()
                self.returns.append(time.monotonic())

    async def _answered(self) -> bool:
        text, translation = next(self.pairs)
        try:
            wait = await ask(self.socket, PAGE, text, translation, {})
        except (NoAnswer, WebSocketException):
            return False
        self.text, self.translation = text, translation  # which the link has from now on
        self.waits.append(wait.translation)
        return True

    def get(self) -> None:
        """Get the page as it is without its connection, and the cookie that comes with it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONGEST)
        connection.request("GET", "/", headers={"Cookie": self._cookie()})
        reply = connection.getresponse()
        reply.read()
        connection.close()
        if reply.status != 200:
            raise http.client.HTTPException(f"status {reply.status}")
        if named := COOKIE.search(reply.headers.get("Set-Cookie", "")):
            self.server = named[1]

    def _cookie(self) -> str:
        return f"SRV={self.server}" if self.server and self.cookies else ""


async def _all(servers: Balanced, count: int, pairs: Iterator[tuple[str, str]]) -> None:
    """Print a row for each thing that happens to the servers."""
    rows = []
    for name in ("nothing", "one is killed", "one hangs", "all restart in turn", "no cookies"):
        await asyncio.to_thread(servers.wait)
        readers = [Reader(servers.port, pairs, cookies=name != "no cookies") for _ in range(count)]
        await asyncio.gather(*(reader.load() for reader in readers))
        homes = [reader.server for reader in readers]
        reading = [asyncio.create_task(reader.read()) for reader in readers]
        began = time.monotonic()
        match name:
            case "one is killed":
                os.kill(servers.pid(servers.ports[0]), signal.SIGKILL)
                await _restored(readers)
            case "one hangs":
                os.kill(hung := servers.pid(servers.ports[1]), signal.SIGSTOP)
                await _restored(readers)
                os.kill(hung, signal.SIGKILL)
            case "all restart in turn":
                await _restarted(servers)
                await _restored(readers)
            case _:
                await asyncio.sleep(2 * PAUSE)
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        rows.append(_row(name, readers, homes, began))
        await asyncio.gather(*(reader.socket.close() for reader in readers))
    header = ["", "sessions", "on each server", "kept theirs", "lost it", "restored", "disturbed"]
    print(table([*header, "failed reloads", "restored after, s", "slowest of the others, s"], rows))


async def _restored(readers: list[Reader]) -> None:
    """Wait until whoever lost the page has it back, and two pauses have passed since."""
    end = time.monotonic() + 2 * LONGEST
    while time.monotonic() < end:
        await asyncio.sleep(0.5)
        latest = max((moment for reader in readers for moment in reader.returns), default=None)
        is_back = all(len(reader.losses) == len(reader.returns) for reader in readers)
        if latest is not None and is_back and time.monotonic() - latest > 2 * PAUSE:
            return
    raise NoServer("Somebody did not get the page back.")


async def _restarted(servers: Balanced) -> None:
    """Have all processes restarted, and wait until each is another one."""
    before = {port: servers.pid(port) for port in servers.ports}
    servers.parent.send_signal(signal.SIGHUP)
    end = time.monotonic() + 3 * LONGEST
    while time.monotonic() < end:
        await asyncio.sleep(0.5)
        try:
            if all(servers.pid(port) != pid for port, pid in before.items()):
                return
        except NoServer:
            continue
    raise NoServer("Not every process was restarted.")


def _row(name: str, readers: list[Reader], homes: list[str], began: float) -> list[object]:
    """Count what became of the readers; disturbed is who had another server than was hit."""
    lost = [reader for reader in readers if reader.losses]
    hit = Counter(home for reader, home in zip(readers, homes, strict=True) if reader.losses)
    disturbed = len(lost) - max(hit.values(), default=0)
    # a server that hangs is lost with the event, one that restarts when its turn comes
    seconds = [
        back - (gone if name == "all restart in turn" else began)
        for reader in lost
        for gone, back in zip(reader.losses, reader.returns, strict=True)
    ]
    others = [wait for reader in readers if not reader.losses for wait in reader.waits]
    faithful = sum(reader.server == home for reader, home in zip(readers, homes, strict=True))
    return [
        name,
        len(readers),
        " + ".join(map(str, sorted(Counter(homes).values()))),
        faithful,
        len(lost),
        sum(bool(reader.returns) for reader in lost),
        disturbed if name != "all restart in turn" else "–",
        sum(reader.failed for reader in readers),
        f"{statistics.median(seconds):.1f}, largest {max(seconds):.1f}" if seconds else "–",
        f"{max(others):.1f}" if others else "–",
    ]
