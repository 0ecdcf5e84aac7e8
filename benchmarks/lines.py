"""Time and memory of many lines: all measures, one removal, and the longest step of the work.

Each case runs in a process of its own, whose largest memory is that of the whole case.
"""

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.machine import describe, table

SHORT, LONG = 1_000, 10_000  # lines with all measures, and without the cost of each head


class Cost(NamedTuple):
    """Seconds of each part, the largest memory of the process, and the size of the result."""

    seconds: dict[str, float]
    peak: float  # GiB
    result: float  # MiB


def measure(lines: Sequence[str], *, costs: bool, removal: bool) -> Cost:
    """Measure the lines, and remove the costliest head of cross-attention from them."""
    from transformer import Translator
    from transformer.corpus import result_file
    from transformer.corpus.measured import COST, head_means
    from transformer.corpus.measuring import measure_lines
    from transformer.corpus.removal import lines_without, summarise_removal

    translator = Translator.load()
    seconds: dict[str, float] = {}
    last = time.perf_counter()

    def progress(_done: int, _total: int, now: str = "", /) -> None:
        nonlocal last
        here = time.perf_counter()
        seconds[now] = seconds.get(now, 0) + here - last
        last = here

    measured = measure_lines(translator, lines, costs=costs, progress=progress)
    means = head_means(measured)
    seconds["means and intervals"] = time.perf_counter() - last
    if removal:
        begin = time.perf_counter()
        cross = [n for n, place in enumerate(measured.heads) if place.kind == "cross"]
        costliest = max(cross, key=lambda n: means.values[COST].value[n])
        summarise_removal(
            measured, lines_without(translator, measured, [measured.heads[costliest]])
        )
        seconds["one removal with 20 random ones"] = time.perf_counter() - begin
    size = len(result_file.to_bytes(measured)) / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return Cost(seconds, peak, size)


def longest_wait(lines: Sequence[str]) -> float:
    """Return the most seconds between two steps, at each of which the work can be ended."""
    from transformer import Translator
    from transformer.corpus.measuring import measure_lines

    last, longest = time.perf_counter(), 0.0

    def progress(_done: int, _total: int, _now: str = "", /) -> None:
        nonlocal last, longest
        here = time.perf_counter()
        longest, last = max(longest, here - last), here

    translator = Translator.load()
    last = time.perf_counter()
    measure_lines(translator, lines, progress=progress)
    return longest


def alone(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Run a function in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments, **options).result()


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks lines`."""
    parser = commands.add_parser("lines", help="time and memory of many lines")
    parser.add_argument("--src", type=Path, required=True, help="sentences, one a line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    lines = options.src.read_text("utf-8").splitlines()
    print(describe())
    rows = []
    for count, costs in ((SHORT, True), (LONG, False)):
        chosen = (lines * (1 + count // len(lines)))[:count]
        cost: Cost = alone(measure, chosen, costs=costs, removal=costs)
        parts = ", ".join(f"{name} {seconds:.0f}" for name, seconds in cost.seconds.items())
        total = sum(cost.seconds.values())
        rows.append(
            [
                f"{count:,}",
                f"{total:.0f} s ({parts})",
                f"{cost.peak:.2f} GiB",
                f"{cost.result:.0f} MiB",
            ]
        )
    print(table(["lines", "time", "peak memory", "result file"], rows))
    longest = [*lines[:20], " ".join(lines[:12])]
    print(f"longest time to the next step, where a job ends: {alone(longest_wait, longest):.2f} s")
