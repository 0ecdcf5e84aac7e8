"""The live page of a site: what a visitor waits for in Chromium, and what the page takes."""

import argparse
import gzip
import os
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.browser import chromium
from benchmarks.machine import describe, table
from transformer.cli.arguments import whole_number
from viz.site import __main__ as site
from viz.site.serve import server_of

SENTENCES = {
    6: "The old dog sleeps all day",
    12: "My little sister wants to see the big elephants in the zoo",
    25: "Two young women in red jackets are sitting on a wooden bench in the park and eating ice "
    "cream while their dogs play behind them today",
}
_SAMPLED = 0.2  # seconds, from one look at the memory to the next
_ALLOCATORS = ("malloc", "partition_alloc", "blink_gc", "v8/main", "v8/workers")
_TURN = 0.012  # seconds, from one stop of a slowed page to the next
# keys and clicks, and the tasks in which nothing else could be heard
_WATCH = """
window.acted = 0; window.tasks = [];
for (const name of ["keydown", "click"]) {
    addEventListener(name, (event) => { window.acted = event.timeStamp; }, true);
}
new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((entry) =>
    entry.duration))).observe({ type: "longtask", buffered: true });
"""
# until a text is translated, the maps that come are those of an earlier letter
_SINCE = """(name) => {
    const at = (mark) => performance.getEntriesByName(mark).at(-1)?.startTime ?? -1;
    return name === "maps" && at(name) < at("translation") ? -1 : at(name) - window.acted;
}"""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    with server_of(folder, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def _until(page: Any, script: str, argument: Any = None, seconds: float = 30) -> float:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        value = page.evaluate(script, argument)
        if value is not False and value is not None and value >= 0:
            return float(value)
        time.sleep(0.01)
    raise TimeoutError(script)


def _longest(page: Any) -> str:
    page.wait_for_timeout(600)  # a task is told of when it is over
    tasks: list[float] = page.evaluate("window.tasks.splice(0)")
    return f"{max(tasks):.0f}" if tasks else "< 50"


def _renderers(browser: Any) -> list[int]:
    """Return the ids of the processes that draw pages and run their Workers."""
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    return [process["id"] for process in processes if process["type"] == "renderer"]


def _memory(numbers: list[int]) -> float:
    """Return the private memory of the largest of some processes, in MB."""
    sizes = []
    for number in numbers:
        text = Path(f"/proc/{number}/smaps_rollup").read_text()
        private = [line.split()[1] for line in text.splitlines() if line.startswith("Private")]
        sizes.append(sum(map(int, private)) / 1024)
    return max(sizes)


@contextmanager
def _watched(browser: Any) -> Iterator[list[float]]:
    """Collect the memory of the process of the page, in MB, over and over again."""
    numbers, ended, sizes = _renderers(browser), threading.Event(), [0.0]

    def act() -> None:
        while not ended.wait(_SAMPLED):
            sizes.append(_memory(numbers))

    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    yield sizes
    ended.set()
    thread.join()


def _parts(browser: Any, page: Any) -> str:
    """Return what the memory consists of, by Chromium's own allocators; the rest is WebAssembly."""
    events: list[Any] = []
    ended: list[Any] = []
    tools, numbers = browser.new_browser_cdp_session(), _renderers(browser)
    tools.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    tools.on("Tracing.tracingComplete", lambda data: ended.append(data))
    watched = {
        "includedCategories": ["disabled-by-default-memory-infra"],
        "memoryDumpConfig": {"triggers": []},
    }
    tools.send("Tracing.start", {"traceConfig": watched, "transferMode": "ReportEvents"})
    tools.send("Tracing.requestMemoryDump", {"levelOfDetail": "detailed"})
    tools.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(50)
    parts: dict[str, float] = {}
    for event in events:
        dump = event.get("args", {}).get("dumps", {}).get("allocators", {})
        if event["ph"] == "v" and event["pid"] in numbers and "malloc" in dump:
            sizes = {name: dump.get(name, {}).get("attrs", {}).get("size") for name in _ALLOCATORS}
            own = {name: int(size["value"], 16) / 2**20 for name, size in sizes.items() if size}
            parts = max(parts, own, key=lambda sizes: sum(sizes.values()))  # others draw no page
    return ", ".join(f"{name} {size:.0f}" for name, size in parts.items())


@contextmanager
def _slowed(browser: Any, times: int) -> Iterator[None]:
    """Let pages and their Workers run for a part of the time; CDP slows the main thread alone."""
    numbers, ended = _renderers(browser), threading.Event()
    turns = ((SIGSTOP, _TURN * (times - 1) / times), (SIGCONT, _TURN / times))

    def act() -> None:
        while not ended.is_set():
            for signal, seconds in turns:
                for number in numbers:
                    os.kill(number, signal)
                time.sleep(seconds)

    thread = threading.Thread(target=act, daemon=True)
    if times > 1:
        thread.start()
    yield
    ended.set()
    if times > 1:
        thread.join()


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks live`."""
    parser = commands.add_parser("live", help="the page of a site with the model in it")
    parser.add_argument("--site", type=Path, help="a built site; else one is built")
    parser.add_argument("--runs", type=whole_number(1), default=15)
    slowed = "how many times slower pages and Workers run once they are live"
    parser.add_argument("--slowed", type=whole_number(1), default=1, help=slowed)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    with TemporaryDirectory() as name:
        folder = options.site or Path(name) / "site"
        if not options.site:
            site.main(["--out", str(folder)])
        with _served(folder) as address, chromium() as browser:
            page = _opened(browser, folder, address)
            with _slowed(browser, options.slowed), _watched(browser) as sizes:
                _measure(page, options.runs)
            print(f"memory at the peak {max(sizes):.0f} MB; in MB now: {_parts(browser, page)}")


def _opened(browser: Any, folder: Path, address: str) -> Any:
    """Open the page and measure until it is live."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.add_init_script(_WATCH)
    page = context.new_page()
    print(describe())
    page.goto(address)
    drawn = _until(page, _SINCE, "drawn")
    live = _until(page, _SINCE, "live")
    first = len(gzip.compress((folder / "index.html").read_bytes()))
    loaded = [*folder.glob("en-de/*"), folder / "engine.js"]
    whole = first + sum(path.stat().st_size for path in loaded)
    print(
        f"first picture: {drawn:.0f} ms, {first / 1e3:.0f} kB; "
        f"live: {live:.0f} ms, {whole / 1e6:.2f} MB"
    )
    print(f"longest task until it is live: {_longest(page)} ms")
    # what was fetched stays in the tools of a driven browser, in the same process: 24 MB of weights
    page.close()
    page = context.new_page()
    page.goto(address)
    _until(page, _SINCE, "live")
    page.wait_for_timeout(1000)
    print(f"memory with the model {_memory(_renderers(browser)):.0f} MB")
    return page


def _measure(page: Any, runs: int) -> None:
    field, rows = page.locator("#text"), []
    for words, text in SENTENCES.items():
        times: dict[str, list[float]] = {"translation": [], "maps": []}
        for _ in range(runs):
            # the page keeps what it found for its last two texts
            for other in ("No", text):
                field.fill(other)
                page.wait_for_timeout(700)
            field.press(".")
            for mark, values in times.items():
                values.append(_until(page, _SINCE, mark))
        rows.append((words, *(_spread(values) for values in times.values()), _longest(page)))
    print(table(("words", "translated, ms", "all maps, ms", "longest task, ms"), rows))
    field.fill("")
    field.press_sequentially(SENTENCES[12], delay=80)
    print(
        f"typed letter by letter: {_until(page, _SINCE, 'translation'):.0f} ms translated, "
        f"{_until(page, _SINCE, 'maps'):.0f} ms maps, longest task {_longest(page)} ms"
    )
    removed = []
    for _ in range(runs):
        page.locator("#removal button").first.click()
        removed.append(_until(page, _SINCE, "translation"))
        page.locator("#figures button").click()  # by its role, the search would be the longest task
        page.wait_for_timeout(300)
    print(f"a head removed: {_spread(removed)} ms; longest task {_longest(page)} ms")
    count = "document.querySelector('.hl-break-line span').textContent"
    page.locator("#breaking button").first.click()
    began = time.monotonic()
    _until(page, f"() => {count}.startsWith('1 of') - 1")
    at_first = time.monotonic() - began
    page.locator(".hl-break-line input").evaluate(
        "(slider) => { slider.value = 12; slider.dispatchEvent(new Event('input')); }"
    )
    _until(page, f"() => {count}.startsWith('12 of') - 1")
    print(
        f"Break it: first head {at_first:.2f} s, twelve {time.monotonic() - began:.2f} s, "
        f"longest task {_longest(page)} ms"
    )
    page.get_by_role("button", name="Restore the model").click()
    options = "[...document.querySelectorAll('#examples option')].map(({ value }) => value)"
    for text in sorted(page.evaluate(options), key=len)[-3:]:
        field.fill(text)
        page.wait_for_timeout(1000)
