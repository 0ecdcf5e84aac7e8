"""The machine that a figure was measured on, and the figures, in words."""

import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from transformer.cli.cores import usable_cores


def describe() -> str:
    """Processor, cores, memory, GPU, and the versions that matter."""
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return (
        f"{_processor()}, {usable_cores()} cores, {_memory()}{gpu}, "
        f"Python {platform.python_version()}, torch {torch.__version__}"
    )


def spread(seconds: Sequence[float]) -> str:
    """Median, smallest and largest in words."""
    return (
        f"median {statistics.median(seconds):.2f} s of {len(seconds)}, "
        f"{min(seconds):.2f} to {max(seconds):.2f} s"
    )


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> str:
    """Median, smallest and largest of the ratios of two sides, turn by turn."""
    ratios = [a / b for a, b in zip(numerators, denominators, strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    for line in info.read_text("utf-8").splitlines() if info.exists() else []:
        if line.startswith("model name"):
            amx = " with AMX" if "amx_bf16" in info.read_text("utf-8") else ""
            return line.partition(":")[2].strip() + amx
    return platform.processor() or platform.machine()


def _memory() -> str:
    if not hasattr(os, "sysconf"):
        return "memory unknown"
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
