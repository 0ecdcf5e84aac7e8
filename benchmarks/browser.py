"""A Chromium and a served app, for measuring what a person waits for."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformer import HeadlightError

ROOT = Path(__file__).parents[1]
# nothing of the browser's own on the network, and no GPU where there is none
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class NoBrowser(HeadlightError):
    """There is no Chromium to measure in."""


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser; a context manager.

    Raises:
        NoBrowser: if none is installed.
    """
    from playwright.sync_api import sync_playwright  # an extra of the tests

    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        raise NoBrowser("There is no Chromium on the PATH: install it, then measure again.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


@contextmanager
def served(script: str = "app.py") -> Iterator[str]:
    """Serve the app, or another script, on a free port; give its address."""
    with server(script) as (address, _):
        yield address


@contextmanager
def server(script: str = "app.py") -> Iterator[tuple[str, int]]:
    """Serve a script on a free port; give its address and the number of its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", script, f"--server.port={port}"],
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
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(timeout=10)
