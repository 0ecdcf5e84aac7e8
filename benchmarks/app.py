"""The app in a real Chromium: from a sentence to its translation and map on the screen."""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.machine import describe
from transformer import HeadlightError, Translator
from viz.components.labels import shown
from viz.serving import CHECKPOINT_VARIABLE

ROOT = Path(__file__).parents[1]
# twenty words each, none of them shown twice, so that no cache answers
SUBJECTS = ("A young man", "An old woman", "A small boy", "The tall girl", "My best friend")
THINGS = ("a red bicycle", "a black umbrella", "a heavy box", "a yellow kite", "a large map")
SENTENCE = "{} in a blue jacket is carrying {} across the street while two dogs are running."
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# a component lives in a shadow root, into which a selector does not look
SETTLED = """keys => {
  const place = document.querySelector(".st-key-translate-map");
  const host = [...(place?.querySelectorAll("*") ?? [])].find(node => node.shadowRoot);
  const map = host?.shadowRoot.querySelector(".hl")?.__headlight;
  const german = document.querySelector(".st-key-translation")?.textContent;
  return german && map && map.keys.join("|") === keys;
}"""


class NoBrowser(HeadlightError):
    """There is no Chromium to measure in."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks app`."""
    parser = commands.add_parser("app", help="a sentence to its translation and map, in Chromium")
    parser.add_argument("--sentences", type=int, default=10, help="how many are measured")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    from playwright.sync_api import sync_playwright  # an extra of the tests

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise NoBrowser("There is no Chromium on the PATH: install it, then measure again.")
    translator = Translator.load(os.environ.get(CHECKPOINT_VARIABLE) or None)
    with _served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        page.wait_for_selector(".st-key-translate-map .hl", timeout=60_000)
        # the first one warms up what every later one finds warm
        _, *seconds = [
            _seconds(page, text, _keys(translator, text))
            for text in _sentences(options.sentences + 1)
        ]
        browser.close()
    print(describe())
    print(
        f"Enter to translation and map on screen, 20 words, beam 4, {len(seconds)} sentences: "
        f"median {statistics.median(seconds):.2f} s, "
        f"{min(seconds):.2f} to {max(seconds):.2f} s"
    )


def _sentences(count: int) -> list[str]:
    pairs = [(subject, thing) for thing in THINGS for subject in SUBJECTS]
    return [SENTENCE.format(*pairs[n % len(pairs)]) for n in range(count)]


def _keys(translator: Translator, text: str) -> str:
    """The labels that the columns of the map must come to have."""
    tokens = [piece.text for piece in translator.tokenizer.pieces(text)]
    return "|".join(shown([*tokens, "</s>"]))


def _seconds(page: Any, text: str, keys: str) -> float:
    """From Enter until translation and map of this very sentence are drawn."""
    box = page.get_by_label("English")
    box.click()
    box.press("Control+A")
    page.keyboard.insert_text(text)
    started = time.perf_counter()
    box.press("Enter")
    page.wait_for_function(SETTLED, arg=keys, polling="raf")
    return time.perf_counter() - started


@contextmanager
def _served() -> Iterator[str]:
    """The app on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=10)
