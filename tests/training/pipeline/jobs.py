"""Commands that the tests of the runner let a plan carry out."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path


def main(arguments: list[str]) -> int:
    """`work FILE`: write it. `wait FILE`: write it when SIGTERM comes. `fail`: say why."""
    what, *rest = arguments
    if what == "fail":
        print("jobs: this cannot work.", file=sys.stderr)
        return 2
    if what == "wait":
        stopped = []
        signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
        Path(f"{rest[0]}.began").touch()
        while not stopped:
            time.sleep(0.01)
    print(what)
    Path(rest[0]).touch()
    return 0
