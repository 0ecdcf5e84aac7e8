"""Speed of translation: this project, CTranslate2 on the same weights, MarianMT of the same sizes.

The sides take turns in one process, so that a machine that slows down slows all. One sentence runs
on one core, and its time is the processor's, which others on the machine hardly change; a file runs
on all cores by the clock.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

import torch

from benchmarks.inference_sides import CTranslate2, Marian, OurEngine, Ours, OursTraced, Side
from benchmarks.machine import describe
from transformer import Translator
from transformer.checkpoints import checkpoint
from transformer.checkpoints.export import ctranslate2 as exported_folder
from transformer.cli.arguments import whole_number
from transformer.config import EOS
from transformer.decoding.settings import SearchSettings
from transformer.errors import InputError, unreadable
from transformer.files.installed import ASSETS, BUNDLED
from transformer.translation.batch import usable_cores

PIECES = (5, 14, 25, 60)
BEAMS = (1, 4)
REPEATS = 5
"""Searches of one sentence in a turn; the turn's time is their median."""

Seconds = dict[str, list[float]]
"""By side, one for each turn."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks inference`."""
    parser = commands.add_parser("inference", help="speed against CTranslate2 and MarianMT")
    parser.add_argument("--checkpoint", type=Path, default=BUNDLED)
    parser.add_argument("--turns", type=whole_number(1, 100), default=5)
    parser.add_argument("--lines", type=Path, help="English sentences; ours repeated unless given")
    parser.add_argument("--count", type=whole_number(1, 10**6), default=1_000, help="of lines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print two tables."""
    torch.set_num_threads(1)
    cores = usable_cores()
    loaded = checkpoint.load(options.checkpoint)
    translator = Translator(loaded)
    lines = sentence_lines(options.lines, options.count)
    print(describe())
    with tempfile.TemporaryDirectory() as temporary:
        float32, int8 = Path(temporary) / "float32", Path(temporary) / "int8"
        exported_folder.write(loaded, float32)
        exported_folder.write(loaded, int8, "int8")
        sides: dict[str, Side] = {
            "ours": Ours(translator, cores),
            "CTranslate2": CTranslate2(translator, float32, cores),
            "int8": CTranslate2(translator, int8, cores),
            "MarianMT": Marian(translator, cores),
        }
        traced = OursTraced(translator)
        print(_sentences(translator, sides, traced, options.turns, lines), flush=True)
        sides["--engine ctranslate2"] = OurEngine(float32, cores)
        print(_file(translator, sides, options.turns, lines, cores))


def _sentences(
    translator: Translator,
    sides: Mapping[str, Side],
    traced: OursTraced,
    turns: int,
    lines: list[str],
) -> str:
    names = [*sides, "with the trace"]
    table = [
        "",
        f"One sentence on one core: milliseconds of the processor, median of {turns} turns; ratios "
        f"of turns, with the least and the largest",
        "",
        "| pieces | beam | " + " | ".join(names) + " | ours / CTranslate2 | trace / ours |",
        "|" + "---|" * (len(names) + 4),
    ]
    for pieces in PIECES:
        row = sentence_of(translator, lines, pieces)
        for K in BEAMS:
            settings = SearchSettings(beam_size=K, n_best=1)
            steps = len(translator.search([row], settings)[0][0].tokens)
            found: Seconds = {name: [] for name in names}
            for _ in range(turns):
                for name, side in sides.items():
                    found[name].append(_median(functools.partial(side.sentence, row, K, steps)))
                with_trace = functools.partial(traced.sentence, row, K, steps)
                found[names[-1]].append(_median(with_trace))
            times = " | ".join(f"{1000 * statistics.median(found[name]):.1f}" for name in names)
            table.append(
                f"| {pieces} | {K} | {times} | {_ratio(found, 'ours', 'CTranslate2')} "
                f"| {_ratio(found, names[-1], 'ours')} |"
            )
    return "\n".join(table)


def _file(
    translator: Translator,
    sides: Mapping[str, Side],
    turns: int,
    lines: list[str],
    cores: int,
) -> str:
    K = BEAMS[-1]
    settings = SearchSettings(beam_size=K, n_best=1)
    rows = [[one.id for one in translator.reader.text(line)] for line in lines]
    steps: dict[tuple[int, ...], int] = {}
    for row in rows:
        if tuple(row) not in steps:
            steps[tuple(row)] = len(translator.search([row], settings)[0][0].tokens)
    counts = [steps[tuple(row)] for row in rows]
    found: Seconds = {name: [] for name in sides}
    busy: Seconds = {name: [] for name in sides}
    texts: dict[str, list[str]] = {}
    for _ in range(turns):
        for name, side in sides.items():
            busy_before, started = time.process_time(), time.perf_counter()
            texts[name] = side.file(lines, K, counts)
            found[name].append(time.perf_counter() - started)
            busy[name].append(time.process_time() - busy_before)
    table = [
        "",
        f"A file of {len(lines):,} lines, {statistics.mean(map(len, rows)):.0f} pieces on average, "
        f"beam {K}, {cores} cores: sentences a second, median of {turns} turns",
        "",
        "| side | sentences a second | of one core's time | time / ours | lines unlike ours |",
        "|---|---|---|---|---|",
    ]
    for name, seconds in found.items():
        speed = len(lines) / statistics.median(seconds)
        ratio = "" if name == "ours" else _ratio(found, name, "ours")
        of_core = len(lines) / statistics.median(busy[name])
        unlike = _unlike(texts[name], texts["ours"])
        table.append(f"| {name} | {speed:.0f} | {of_core:.0f} | {ratio} | {unlike} |")
    return "\n".join(table)


def _unlike(texts: list[str], ours: list[str]) -> str:
    """How many lines differ; nothing where the weights are random."""
    if not texts:
        return ""
    return f"{sum(one != other for one, other in zip(texts, ours, strict=True)):,}"


def _ratio(found: Seconds, side: str, other: str) -> str:
    ratios = [a / b for a, b in zip(found[side], found[other], strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _median(call: Callable[[], None]) -> float:
    return statistics.median(_seconds(call, time.process_time) for _ in range(REPEATS))


def _seconds(call: Callable[[], None], clock: Callable[[], float]) -> float:
    started = clock()
    call()
    return clock() - started


def sentence_of(translator: Translator, lines: list[str], pieces: int) -> list[int]:
    """The line that has as many pieces; or several lines in a row, cut after as many."""
    rows = [[one.id for one in translator.reader.text(line)] for line in lines]
    for row in rows:
        if len(row) == pieces:
            return row
    joined = chain.from_iterable(row[:-1] for row in cycle(rows))
    return [*islice(joined, pieces - 1), EOS]


def sentence_lines(path: Path | None, count: int) -> list[str]:
    """So many sentences of a file, or of our own, again and again where there are fewer."""
    source = ASSETS / "examples.txt" if path is None else path
    try:
        lines = [line for line in source.read_text("utf-8").splitlines() if line.strip()]
    except OSError as error:
        raise InputError(unreadable(error, source)) from error
    if not lines:
        raise InputError(f"{source} has no line: give a file with sentences.")
    return list(islice(cycle(lines), count))
