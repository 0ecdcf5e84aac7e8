"""What every browser test needs: a Chromium, and a Streamlit script served on a free port."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.browser import QUIET
from tests.browser.spy import SPY

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 40.0  # seconds until a server must answer; a training run may hold both cores


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Where Chromium is; without one the test is skipped, or fails where it must not be missing."""
    named = os.environ.get("HEADLIGHT_CHROMIUM", "")
    for name in (named, "chromium", "chromium-browser", "google-chrome", "/usr/bin/chromium"):
        if name and (found := shutil.which(name)):
            return found
    message = "no Chromium on this machine (set HEADLIGHT_CHROMIUM to its path)"
    if os.environ.get("HEADLIGHT_REQUIRE_BROWSER") == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Browser]:
    """One browser for all; each test opens its own page, with a spy: `browser.new_page(…)`."""
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=QUIET)
        new_page = chromium.new_page

        def spied(**options: Any) -> Page:
            page = new_page(**options)
            page.add_init_script(SPY)
            return page

        chromium.new_page = spied
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def serve_streamlit(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., str]]:
    """Serve a Streamlit script and get its address; the servers stop with the module.

    The script is a path, such as the app's own, or the source text of a small one. It runs in the
    repository root, so it reads the project's `.streamlit/config.toml` and can import its packages;
    `options` are further flags of `streamlit run`, as in `serve(script, "--theme.base=dark")`.
    """
    servers: list[subprocess.Popen[bytes]] = []

    def serve(script: str | Path, *options: str, env: dict[str, str] | None = None) -> str:
        folder = tmp_path_factory.mktemp("streamlit")
        if isinstance(script, str):
            path = folder / "script.py"
            path.write_text(dedent(script), encoding="utf-8")
        else:
            path = script.resolve()
        port, log = _free_port(), folder / "server.log"
        command = [sys.executable, "-m", "streamlit", "run", str(path), f"--server.port={port}"]
        with log.open("wb") as out:
            server = subprocess.Popen(
                [*command, "--server.headless=true", "--server.address=127.0.0.1", *options],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        servers.append(server)
        address = f"http://127.0.0.1:{port}"
        _wait(address, server, log)
        return address

    yield serve
    for server in servers:
        server.terminate()
    for server in servers:
        try:
            server.wait(timeout=5)
        except subprocess.TimeoutExpired:
            server.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    said = log.read_text(encoding="utf-8", errors="replace")
    pytest.fail(f"streamlit did not start at {address}; it said:\n{said}", pytrace=False)
