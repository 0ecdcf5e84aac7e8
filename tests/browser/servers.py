"""Streamlit scripts served on a free port, each by a process of its own."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.forkserver import forkserver
from tests.kit import free_port, is_well

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "app.py"
SCRIPTS = Path(__file__).parent / "scripts"
# what makes `slow_app.py` slow: a word of an address, a sentence, a file
LATE, SLOW, SLOW_VARIABLE = "late", "The dog walks slowly.", "HEADLIGHT_TEST_SLOW"
START = 40.0  # seconds until a server must answer; a training run may hold both cores


@contextmanager
def served(script: Path, log: Path, env: dict[str, str]) -> Iterator[str]:
    """The address of a server that runs a script in the repository root until the block ends.

    So it reads the project's `.streamlit/config.toml` and can import its packages.
    """
    port = free_port()
    base = env.get("STREAMLIT_SERVER_BASE_URL_PATH", "")
    server = forkserver().Process(target=_serve, args=(script, log, env, port), daemon=True)
    server.start()
    try:
        address = f"http://127.0.0.1:{port}/{base}".rstrip("/")
        if not is_well(address, server.is_alive, START):
            output = log.read_text("utf-8", "replace") if log.exists() else "nothing"
            pytest.fail(f"streamlit did not start at {address}; it wrote:\n{output}", pytrace=False)
        yield address
    finally:
        server.terminate()
        server.join(timeout=5)
        if server.is_alive():
            server.kill()


def _serve(script: Path, log: Path, env: dict[str, str], port: int) -> None:
    """`streamlit run`, as from a shell in the repository root."""
    from streamlit.web import cli

    with log.open("wb") as out:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(out.fileno(), stream.fileno())
    os.environ |= env
    os.chdir(ROOT)
    options = [f"--server.port={port}", "--server.headless=true", "--server.address=127.0.0.1"]
    cli.main(["run", str(script), *options])
