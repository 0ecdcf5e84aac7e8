"""The paper's amount of text, made up: time and memory of preparing it and of training on it.

No GPU is needed: the model is tiny, and the batches and the vocabulary are those of the base model.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.machine import describe, table
from training.data.encoded_text import spans
from training.data.text_folders import SOURCE, TARGET
from transformer.cli.arguments import whole_number
from transformer.errors import ConfigError

WORDS = 300_000  # of each language
CHUNK = 100_000  # pairs that are made at one time
MEAN_LOG, SPREAD, LONGEST = 3.0, 0.6, 120  # of the number of words: about 24 on average
SYLLABLES = [a + b + c for a in "bdfghklmnprstvw" for b in "aeiou" for c in ("", "n", "r", "s")]


class MadeLanguage:
    """Words of some syllables, of which the nth is used in proportion to 1/(n + 2.7)."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        # frequent words are short
        syllables = 1 + (np.log(np.arange(WORDS) + 2) / 5 + random.random(WORDS)).astype(int)
        parts = random.integers(len(SYLLABLES), size=syllables.sum()).tolist()
        ends = np.cumsum(syllables).tolist()
        words = [
            "".join(SYLLABLES[p] for p in parts[end - n : end]) + " "
            for end, n in zip(ends, syllables.tolist(), strict=True)
        ]
        self._letters = np.frombuffer("".join(words).encode(), np.uint8)
        self._lengths = np.array([len(word) for word in words])
        self._starts = np.cumsum(self._lengths) - self._lengths
        share = 1 / (np.arange(WORDS) + 2.7)
        self._until = np.cumsum(share / share.sum())

    def text(self, lengths: NDArray[np.int64], random: np.random.Generator) -> bytes:
        """Lines of so many words each."""
        words = np.searchsorted(self._until[:-1], random.random(int(lengths.sum())))
        letters = self._letters[spans(self._starts[words], self._lengths[words])]
        last = np.cumsum(lengths) - 1  # word of each line
        letters[np.cumsum(self._lengths[words])[last] - 1] = ord("\n")
        return letters.tobytes()


def write_text(prefix: Path, pairs: int, seed: int) -> None:
    """Write `prefix.en` and `prefix.de`, whose lines have about the same number of words."""
    random = np.random.default_rng(seed)
    languages = MadeLanguage(1), MadeLanguage(2)
    with ExitStack() as stack:
        files = [
            stack.enter_context(Path(f"{prefix}.{name}").open("wb")) for name in (SOURCE, TARGET)
        ]
        for start in tqdm(range(0, pairs, CHUNK), "made-up text", disable=None):
            count = min(CHUNK, pairs - start)
            drawn = random.lognormal(MEAN_LOG, SPREAD, count)
            for language, file in zip(languages, files, strict=True):
                about = drawn * random.normal(1, 0.1, count)
                lengths = np.clip(about.round(), 1, LONGEST).astype(np.int64)
                file.write(language.text(lengths, random))


ROOT = Path(__file__).parents[1]
BATCH_TOKENS = 25_000
VOCABULARY, SAMPLE_LINES = 37_000, 1_000_000  # pieces, and the lines that they are learnt on
PROCESSES = 2
RECIPE = """[model]
preset = "demo"
vocab_size = {vocabulary}
N = 1
d_model = 32
d_ff = 64
h = 2

[training]
steps = {steps}
batch_tokens = 25_000
max_pieces = 256
log_every = 10
save_every = 1_000_000
validate_every = 1_000_000
validate_sentences = 1
average = 1
"""

Report = dict[str, Any]
Row = tuple[str, ...]
"""A line of the table: rows of text, seconds, and three sizes."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks scale`."""
    parser = commands.add_parser(
        "scale", help="prepare millions of made-up pairs, and train on them in two processes"
    )
    parser.add_argument("--pairs", type=whole_number(1_000), default=4_500_000)
    parser.add_argument("--steps", type=whole_number(1), default=200)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print a table."""
    print(describe())
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        runs = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        recipe = runs / "scale.toml"
        recipe.write_text(RECIPE.format(vocabulary=VOCABULARY, steps=options.steps))
        _make_text(folder, options)
        prepared = folder / "prepared"
        rows = [_preparing(recipe, folder)]
        rows += _reading(
            "prepared text", _process("batches", runs, str(prepared), str(BATCH_TOKENS))
        )
        text = ("text", runs, str(folder / "small"), str(prepared), str(BATCH_TOKENS))
        rows += _reading("text", _process(*text))
        rows += _training(recipe, prepared, runs / "run")
    print(table(["", "rows", "seconds", "peak memory", "of it alone", "mapped"], rows))


def _make_text(folder: Path, options: argparse.Namespace) -> None:
    for name, pairs in (("text", options.pairs), ("small", options.pairs // 10)):
        place = folder / name
        if (place / "valid.de").exists():
            continue
        place.mkdir(parents=True, exist_ok=True)
        write_text(place / "train", pairs, seed=1)
        write_text(place / "valid", 100, seed=2)


def _preparing(recipe: Path, folder: Path) -> Row:
    started = time.monotonic()
    figures = _process(
        "prepare", recipe.parent, "--config", str(recipe), "--data", str(folder / "text"),
        "--out", str(folder / "prepared"), "--sample-lines", str(SAMPLE_LINES),
    )  # fmt: skip
    name = f"training.prepare, vocabulary on {SAMPLE_LINES:,} lines"
    return (name, "", f"{time.monotonic() - started:.0f}", _gib(figures["peak"]), "", "")


def _reading(name: str, figures: Report) -> list[Row]:
    sizes = [_gib(figures[part]) for part in ("peak", "private", "mapped")]
    return [
        (f"{name}, opened", f"{figures['rows']:,}", f"{figures['open']:.1f}", *sizes),
        *(
            (f"{name}, batches of the {epoch}", "", f"{figures[epoch]:.1f}", "", "", "")
            for epoch in ("first epoch", "next epoch")
        ),
    ]


def _training(recipe: Path, prepared: Path, out: Path) -> list[Row]:
    """Several processes at once, as torchrun starts them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    started = time.time()
    reports = [out.parent / f"train-{rank}.json" for rank in range(PROCESSES)]
    arguments = ["--config", str(recipe), "--data", str(prepared), "--out", str(out)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.scale_process", "train", str(report), *arguments],
            cwd=ROOT,
            env={
                **os.environ, "RANK": str(rank), "WORLD_SIZE": str(PROCESSES),
                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": "1",
            },
        )
        for rank, report in enumerate(reports)
    ]  # fmt: skip
    for process in processes:
        process.wait()
    rows: list[Row] = []
    for rank, report in enumerate(reports):
        figures = _read(report)
        sizes = [_gib(figures[part]) for part in ("peak", "private", "mapped")]
        name = f"process {rank}, start to first step"
        rows.append((name, "", f"{figures['first'] - started:.1f}", *sizes))
        seconds = (figures["last"] - figures["first"]) / max(1, figures["steps"] - 1)
        name = f"process {rank}, each of {figures['steps']} steps"
        rows.append((name, "", f"{seconds:.2f}", "", "", ""))
    return rows


def _process(kind: str, runs: Path, *arguments: str) -> Report:
    report = runs / f"{kind}.json"
    command = [sys.executable, "-m", "benchmarks.scale_process", kind, str(report), *arguments]
    subprocess.run(command, cwd=ROOT, check=False)
    return _read(report)


def _read(report: Path) -> Report:
    try:
        figures: Report = json.loads(report.read_text("utf-8"))
    except OSError as error:
        raise ConfigError("A process has failed: see what it said above.") from error
    if figures.get("status"):
        raise ConfigError("A command has failed: see what it said above.")
    return figures


def _gib(size: float) -> str:
    return f"{size / 2**30:.2f} GiB"
