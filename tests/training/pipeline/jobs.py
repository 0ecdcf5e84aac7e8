"""Commands that the tests of the runner let a plan carry out."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path


def main(arguments: list[str]) -> int:
    """`work FILE`: write it. `wait FILE`: write it when SIGTERM comes. `fail`: say why.

    `stay FILE`: end when SIGKILL comes.
    `train FOLDER`: log ten steps a second, after 100 seconds for the first ten, and wait for
    SIGTERM; the second time, end.
    """
    what, *rest = arguments
    if what == "train":
        folder = Path(rest[0])
        if (folder / "ends").exists():
            print(what)
            return 0
        (folder / "ends").touch()
        with (folder / "run.jsonl").open("a+") as log:
            log.seek(0)
            last = max((json.loads(line)["step"] for line in log), default=0)
            print(json.dumps({"step": last, "steps": 10**6}), file=log)
            for step, at in ((last + 10, last + 100), (last + 1010, last + 200)):
                print(json.dumps({"step": step, "loss": 1.0, "seconds": at}), file=log)
        signal.pause()  # which SIGTERM ends
    if what == "fail":
        print("jobs: this cannot work.", file=sys.stderr)
        return 2
    if what == "stay":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        Path(f"{rest[0]}.began").touch()
        time.sleep(100)
    if what == "wait":
        stopped = []
        signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
        Path(f"{rest[0]}.began").touch()
        while not stopped:
            time.sleep(0.01)
    print(what)
    Path(rest[0]).touch()
    return 0
