"""Helpers for tests and benchmarks of servers: free ports, the wait for an answer, and Chromium."""

import socket
import time
import urllib.request
from collections.abc import Callable

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


def free_port() -> int:
    """Return a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_well(address: str, is_alive: Callable[[], bool], seconds: float) -> bool:
    """Wait until the app at an address says that it is well; False where it ends before that."""
    end = time.monotonic() + seconds
    while is_alive() and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                return True
        except OSError:
            time.sleep(0.05)
    return False
