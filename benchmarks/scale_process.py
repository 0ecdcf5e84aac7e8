"""One process of `python -m benchmarks scale`, alone in its interpreter: what it takes is its own.

python -m benchmarks.scale_process prepare | batches | text | train REPORT ARGUMENT …
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from training.data.encoded_text import TrainingText

Report = dict[str, Any]


def memory() -> Report:
    """This process in bytes: its peak, and now what it has alone and what it has mapped."""
    status = _fields(Path("/proc/self/status"))
    rollup = _fields(Path("/proc/self/smaps_rollup"))
    return {
        "peak": status["VmHWM"],
        "private": rollup["Anonymous"],
        "mapped": rollup["Rss"] - rollup["Anonymous"],
    }


def _fields(path: Path) -> dict[str, int]:
    """The lines of /proc that say `Name: 123 kB`, in bytes."""
    lines = (line.split() for line in path.read_text("utf-8").splitlines())
    return {w[0].rstrip(":"): int(w[1]) * 1024 for w in lines if len(w) == 3 and w[2] == "kB"}


def prepare(arguments: Sequence[str]) -> Report:
    """`training.prepare`."""
    from training.prepare import main

    status = main(list(arguments))
    return {"status": status, **memory()}


def batches(arguments: Sequence[str]) -> Report:
    """A prepared folder opened, and the batches of two epochs: FOLDER BATCH_TOKENS."""
    from training.data.batches import make_batch
    from training.data.prepared import Prepared
    from training.data.run_data import open_prepared

    folder, batch_tokens = arguments
    seconds = Stopwatch()
    text = open_prepared(Prepared.read(Path(folder))).text
    first, following = _epochs(text, int(batch_tokens), seconds)
    for rows in following[:100]:
        make_batch(text.encoded, rows)
    seconds.lap("100 batches")
    return {"rows": len(text.encoded), "batches": len(first), **seconds.laps, **memory()}


def text(arguments: Sequence[str]) -> Report:
    """The same from a folder of text, which each process reads: FOLDER CHECKPOINT BATCH_TOKENS."""
    from training.data.prepared import TOKENIZER
    from training.data.run_data import encode_texts
    from training.data.text_folders import DataFolder, read_parallel
    from transformer.text.tokenizer import Tokenizer

    folder, checkpoint, batch_tokens = arguments
    folders = [DataFolder(Path(folder))]
    tokenizer = Tokenizer.load(Path(checkpoint) / TOKENIZER)
    seconds = Stopwatch()
    read = encode_texts(folders, [read_parallel(Path(folder) / "train")], tokenizer, 256)
    first, _ = _epochs(read, int(batch_tokens), seconds)
    return {"rows": len(read.encoded), "batches": len(first), **seconds.laps, **memory()}


def _epochs(text: "TrainingText", batch_tokens: int, seconds: "Stopwatch") -> tuple[Any, Any]:
    """Cut two epochs of opened text into batches."""
    from training.data.batches import TokenBatches

    seconds.lap("open")
    cut = TokenBatches(text.encoded, batch_tokens, 1)
    first = cut.epoch(0, text.rows(1, 0))
    seconds.lap("first epoch")
    following = cut.epoch(1, text.rows(1, 1))
    seconds.lap("next epoch")
    return first, following


def train(arguments: Sequence[str]) -> Report:
    """`training.train`; when its first step was done, by the clock, and memory as it went on."""
    from training.train import main
    from training.update import Updater

    update, done = Updater.update, list[float]()
    most: Report = {}

    def timed(self: Updater, *rest: Any) -> None:
        update(self, *rest)
        done.append(time.time())
        if len(done) % 10 == 0:
            most.update({n: max(value, most.get(n, 0)) for n, value in memory().items()})

    Updater.update = timed  # type: ignore[assignment, method-assign]
    status = main(list(arguments))
    return {"status": status, "first": done[0], "last": done[-1], "steps": len(done), **most}


class Stopwatch:
    """Seconds of one thing after the other."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.monotonic()

    def lap(self, name: str) -> None:
        """Say what the time since the last lap was for."""
        now = time.monotonic()
        self.laps[name], self._last = now - self._last, now


KINDS: dict[str, Callable[[Sequence[str]], Report]] = {
    "prepare": prepare, "batches": batches, "text": text, "train": train,
}  # fmt: skip

if __name__ == "__main__":
    kind, report, *rest = sys.argv[1:]
    Path(report).write_text(json.dumps(KINDS[kind](rest)), "utf-8")
