"""The paper's amount of text, made up: time and memory of preparing it and of training on it.

No GPU is needed: the model is tiny, and the batches and the vocabulary are those of the base model.
"""

from __future__ import annotations

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

from benchmarks.machine import describe
from benchmarks.made_text import write_text
from transformer.cli.arguments import whole_number
from transformer.errors import ConfigError

ROOT = Path(__file__).parents[1]
BATCH_TOKENS = 25_000
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


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks scale`."""
    parser = commands.add_parser(
        "scale", help="prepare millions of made-up pairs, and train on them in two processes"
    )
    parser.add_argument("--pairs", type=whole_number(1_000), default=4_500_000)
    parser.add_argument(
        "--text-pairs",
        type=whole_number(1_000),
        default=450_000,
        help="pairs that are read as text beside it",
    )
    parser.add_argument("--vocabulary", type=whole_number(100), default=37_000)
    parser.add_argument(
        "--sample-lines",
        type=whole_number(2),
        default=1_000_000,
        help="lines that the vocabulary is learnt on",
    )
    parser.add_argument("--steps", type=whole_number(1), default=200)
    parser.add_argument("--processes", type=whole_number(1, 64), default=2)
    parser.add_argument(
        "--folder",
        type=Path,
        help="keep the text here, and take what is there; a temporary one unless given",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print a table."""
    print(describe())
    with ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        runs = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        recipe = runs / "scale.toml"
        recipe.write_text(RECIPE.format(vocabulary=options.vocabulary, steps=options.steps))
        _make_text(folder, options)
        prepared = folder / "prepared"
        rows = [_row("", "rows", "seconds", "peak memory", "of it alone", "mapped")]
        rows.append(_row(*["---"] * 6))
        rows.append(_preparing(recipe, folder, options))
        found = _process("batches", runs, str(prepared), str(BATCH_TOKENS))
        rows += _reading("prepared text", found)
        text = ("text", runs, str(folder / "small"), str(prepared), str(BATCH_TOKENS))
        rows += _reading("text", _process(*text))
        rows += _training(recipe, prepared, runs / "run", options)
    print("\n".join(rows))


def _make_text(folder: Path, options: argparse.Namespace) -> None:
    for name, pairs in (("text", options.pairs), ("small", options.text_pairs)):
        place = folder / name
        if (place / "valid.de").exists():
            continue
        place.mkdir(parents=True, exist_ok=True)
        write_text(place / "train", pairs, seed=1)
        write_text(place / "valid", 100, seed=2)


def _preparing(recipe: Path, folder: Path, options: argparse.Namespace) -> str:
    started = time.monotonic()
    found = _process(
        "prepare", recipe.parent, "--config", str(recipe), "--data", str(folder / "text"),
        "--out", str(folder / "prepared"), "--sample-lines", str(options.sample_lines),
    )  # fmt: skip
    name = f"training.prepare, vocabulary on {options.sample_lines:,} lines"
    return _row(name, "", f"{time.monotonic() - started:.0f}", _gib(found["peak"]), "", "")


def _reading(name: str, found: Report) -> list[str]:
    sizes = [_gib(found[part]) for part in ("peak", "private", "mapped")]
    return [
        _row(f"{name}, opened", f"{found['rows']:,}", f"{found['open']:.1f}", *sizes),
        *(
            _row(f"{name}, batches of the {epoch}", "", f"{found[epoch]:.1f}", "", "", "")
            for epoch in ("first epoch", "next epoch")
        ),
    ]


def _training(recipe: Path, prepared: Path, out: Path, options: argparse.Namespace) -> list[str]:
    """Several processes at once, as torchrun starts them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    started = time.time()
    reports = [out.parent / f"train-{rank}.json" for rank in range(options.processes)]
    arguments = ["--config", str(recipe), "--data", str(prepared), "--out", str(out)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.scale_process", "train", str(report), *arguments],
            cwd=ROOT,
            env={
                **os.environ, "RANK": str(rank), "WORLD_SIZE": str(options.processes),
                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": "1",
            },
        )
        for rank, report in enumerate(reports)
    ]  # fmt: skip
    for process in processes:
        process.wait()
    rows = []
    for rank, report in enumerate(reports):
        found = _read(report)
        sizes = [_gib(found[part]) for part in ("peak", "private", "mapped")]
        name = f"process {rank}, start to first step"
        rows.append(_row(name, "", f"{found['first'] - started:.1f}", *sizes))
        each = (found["last"] - found["first"]) / max(1, found["steps"] - 1)
        name = f"process {rank}, each of {found['steps']} steps"
        rows.append(_row(name, "", f"{each:.2f}", "", "", ""))
    return rows


def _process(kind: str, runs: Path, *arguments: str) -> Report:
    report = runs / f"{kind}.json"
    command = [sys.executable, "-m", "benchmarks.scale_process", kind, str(report), *arguments]
    subprocess.run(command, cwd=ROOT, check=False)
    return _read(report)


def _read(report: Path) -> Report:
    try:
        found: Report = json.loads(report.read_text("utf-8"))
    except OSError as error:
        raise ConfigError("A process has failed: see what it said above.") from error
    if found.get("status"):
        raise ConfigError("A command has failed: see what it said above.")
    return found


def _gib(size: float) -> str:
    return f"{size / 2**30:.2f} GiB"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
