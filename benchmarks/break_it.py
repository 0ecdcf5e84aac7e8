"""Break it: after how many heads a translation changes, and how long it takes to find them."""

import argparse
import math
import statistics
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.machine import describe, spread, table
from transformer import AttentionTrace, Translator
from transformer.analysis.heads.effect import effect
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_order import (
    GREEDY,
    random_order,
    removal_order,
)
from transformer.cli.arguments import whole_number
from transformer.files.installed import BUNDLED, BUNDLED_BY_NAME

WORDS = 4  # sentences with fewer are left out


def first_change(translator: Translator, trace: AttentionTrace, order: list[Head]) -> float:
    """Return how many heads of an order change a word; infinity if the greedy ones do not."""
    for count in range(1, GREEDY + 1):
        removals = [Removal(*head) for head in order[:count]]
        if effect(translator, trace, removals).translation.text.split() != trace.target.split():
            return count
    return math.inf


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks break-it`."""
    parser = commands.add_parser("break-it", help="heads until the translation changes")
    parser.add_argument("input", type=Path, help="sentences, one per line")
    parser.add_argument("--lines", type=whole_number(1), default=200, help="the first ones")
    parser.add_argument("--model", choices=BUNDLED_BY_NAME, default="bundled")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    translator = Translator.load(BUNDLED_BY_NAME.get(options.model, BUNDLED))
    lines = options.input.read_text("utf-8").splitlines()
    texts = [line for line in lines if len(line.split()) >= WORDS][: options.lines]
    print(f"{describe()}; {len(texts)} sentences with {WORDS} words or more")
    counts: dict[str, list[float]] = {"needed most": [], "random others, same kinds": []}
    orders, steps = [], []
    for seed, text in enumerate(texts):
        trace = translator.trace(text)
        began = time.perf_counter()
        order = removal_order(translator.model, trace)
        orders.append(time.perf_counter() - began)
        control = random_order(translator.model, order, seed)
        for name, heads in zip(counts, (order, control), strict=True):
            counts[name].append(first_change(translator, trace, heads))
        if len(text.split()) == 12:
            began = time.perf_counter()
            for heads in (order, control):
                effect(translator, trace, [Removal(*head) for head in heads[:GREEDY]])
            steps.append(time.perf_counter() - began)
    rows = []
    for name, changes in counts.items():
        shares = [sum(c <= most for c in changes) / len(changes) for most in (1, 3, 6, GREEDY)]
        rows.append((name, statistics.median(changes), *(f"{share:.1%}" for share in shares)))
    header = ("heads", "median until a word changes", *(f"≤ {n}" for n in (1, 3, 6, GREEDY)))
    print(table(header, rows))
    print(f"an order: {spread(orders)}")
    if steps:
        print(f"a step of the slider on 12 words, without the page: {spread(steps)}")
