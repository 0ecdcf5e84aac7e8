"""The app in a real Chromium: what a person waits for, and what travels for it."""

import argparse
import os
import time
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.browser import chromium
from benchmarks.machine import describe, spread
from tests.server import served
from transformer import Translator
from transformer.cli.arguments import whole_number
from viz.app.models.menu import CHECKPOINT_VARIABLE
from viz.draw.labels import display_tokens

# twenty words each, none of them shown twice, so that no cache answers
SUBJECTS = ("A young man", "An old woman", "A small boy", "The tall girl", "My best friend")
THINGS = ("a red bicycle", "a black umbrella", "a heavy box", "a yellow kite", "a large map")
MOST = len(SUBJECTS) * len(THINGS)
SENTENCE = "{} in a blue jacket is carrying {} across the street while two dogs are running."
# what a component shows in words; it lives in a shadow root, into which a selector does not look
COMPONENT = """key => {
  const place = document.querySelector(`.st-key-${key}`);
  const host = [...(place?.querySelectorAll("*") ?? [])].find(node => node.shadowRoot);
  const root = host?.shadowRoot.querySelector(".hl");
  return root && {
    title: root.querySelector(".hl-title")?.textContent,
    // what the row writes; a row of the decoder begins with what it reads
    queries: [...root.querySelectorAll("tbody tr")]
      .map(row => [...row.cells].at(-3).textContent).join("|"),
    heads: [...root.querySelectorAll("[role=gridcell]")]
      .map(cell => ({ name: cell.ariaLabel, most: cell.ariaDescription ?? "" })),
  };
}"""
TRANSLATED = f"""queries => ({COMPONENT})("translate-map")?.queries === queries"""
# the grid and the map of the open head show the same sentence: what each head looks at most, in
# words, starts from one of its tokens
ALL_MAPS = f"""queries => {{
  const [grid, map] = [({COMPONENT})("grid"), ({COMPONENT})("heads-map")];
  const tokens = queries.split("|").map(token => `“\u2068${{token}}\u2069” to`);
  const cross = grid?.heads.filter(({{ name }}) => name.startsWith("cross")) ?? [];
  return map?.queries === queries && cross.length
    && cross.every(({{ most }}) => tokens.some(token => most.includes(token)));
}}"""
# within the page, from the click itself: Playwright's own way to a click takes a tenth of a second
OPENED = f"""(cell, title) => new Promise((done) => {{
  const started = performance.now();
  cell.click();
  const look = () => ({COMPONENT})("heads-map")?.title === title
    ? done(performance.now() - started) : requestAnimationFrame(look);
  look();
}})"""
SIZES = ((128, 6, 8), (512, 6, 8))  # tokens on each side, layers, heads


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks app`."""
    parser = commands.add_parser("app", help="sentences, maps and heads on screen, in Chromium")
    parser.add_argument(
        "--sentences", type=whole_number(1, MOST // 2 - 1), default=10,
        help="how many are measured on each of the two pages",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    translator = Translator.load(os.environ.get(CHECKPOINT_VARIABLE) or None)
    print(describe())
    with chromium() as browser:
        with served() as server:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            # what one page has asked for, the server remembers for the other
            fresh = iter(sentences(2 * (options.sentences + 1)))
            for path, script, label in (
                ("/?translate_view=One+map", TRANSLATED, "translation and map"),
                ("/heads", ALL_MAPS, "the maps of all heads"),
            ):
                page.goto(server.address + path)
                page.wait_for_selector(".hl", timeout=60_000)
                texts = list(islice(fresh, options.sentences + 1))
                # the first one warms up what every later one finds warm
                _, *seconds = [_seconds(page, t, script, _queries(translator, t)) for t in texts]
                print(f"Enter to {label} on screen, 20 words, beam 4: {spread(seconds)}")
            _print_opening(page, translator.model.config.N, translator.model.config.h)
        for size in SIZES:
            _print_made(browser, *size)


def _print_made(browser: Any, n: int, layers: int, heads: int) -> None:
    """Attention of a given size on the heads page: seconds, bytes and memory."""
    with served("benchmarks/heads_page.py") as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        received: list[int] = []
        page.on(
            "websocket",
            lambda socket: socket.on("framereceived", lambda data: received.append(len(data))),
        )
        page.goto(f"{server.address}/?n={n}&N={layers}&h={heads}")
        page.wait_for_function(ALL_MAPS, arg=_made_queries(n, 0), timeout=120_000)
        seconds, sizes = [], []
        for seed in range(1, 4):
            received.clear()
            started = time.perf_counter()
            page.get_by_role("button", name="Next").click()
            page.wait_for_function(
                ALL_MAPS, arg=_made_queries(n, seed), polling="raf", timeout=120_000
            )
            seconds.append(time.perf_counter() - started)
            sizes.append(sum(received))
        session = page.context.new_cdp_session(page)
        session.send("HeapProfiler.collectGarbage")
        heap = page.evaluate("performance.memory.usedJSHeapSize") / 2**20
        print(
            f"{layers} layers × {heads} heads × 3 kinds at {n} tokens: {spread(seconds)}; "
            f"{max(sizes) / 1e6:.2f} MB over the socket; {heap:.0f} MB of JavaScript heap, "
            f"{_memory(browser) / 2**20:.0f} MB the page's process"
        )
        _print_opening(page, layers, heads)
        page.close()


def _print_opening(page: Any, layers: int, heads: int) -> None:
    """From a click on a small map until it is drawn large."""
    seconds = []
    for layer, head in ((0, 1), (layers - 1, heads - 1), (0, 2), (layers - 1, 1)):
        cell = page.get_by_role(
            "gridcell", name=f"cross-attention, layer {layer + 1}, head {head + 1}"
        )
        title = f"L{layer + 1} H{head + 1} · cross-attention"
        seconds.append(cell.evaluate(OPENED, title) / 1000)
    print(f"  opening a head: {spread(seconds)}")


def sentences(count: int) -> list[str]:
    """Sentences of twenty words, at most `MOST` of them different."""
    pairs = [(subject, thing) for thing in THINGS for subject in SUBJECTS]
    return [SENTENCE.format(*pairs[n % len(pairs)]) for n in range(count)]


def _queries(translator: Translator, text: str) -> str:
    """The labels that the rows of the map must come to have, by what a row writes."""
    return "|".join(display_tokens(translator.trace(text).labels("cross").queries))


def _made_queries(n: int, seed: int) -> str:
    return "|".join(f"de{seed}x{i}" for i in range(n))


def _seconds(page: Any, text: str, script: str, queries: str) -> float:
    """From Enter until all that `script` looks for is drawn for this very sentence."""
    box = page.get_by_label("English", exact=True)
    box.click()
    box.press("Control+A")
    page.keyboard.insert_text(text)
    started = time.perf_counter()
    box.press("Enter")
    page.wait_for_function(script, arg=queries, polling="raf")
    return time.perf_counter() - started


def _memory(browser: Any) -> int:
    """Bytes that the largest renderer of the browser holds; 0 where the system does not tell."""
    session = browser.new_browser_cdp_session()
    largest = 0
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        status = Path(f"/proc/{process['id']}/status")
        if process["type"] == "renderer" and status.exists():
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
            largest = max(largest, int(lines["VmRSS"].split()[0]) * 1024)
    return largest
