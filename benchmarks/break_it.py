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
from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.importance import sentence_losses
from transformer.analysis.heads.removal import Removal, removed
from transformer.analysis.heads.removal_order import (
    GREEDY,
    RemovalOrder,
    random_order,
    removal_order,
    with_next_place,
)
from transformer.analysis.teacher_forcing import forced_pair
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


def losses_one_by_one(translator: Translator, trace: AttentionTrace) -> dict[Head, float]:
    """Compute -log P without each head, one head and one pass after another."""
    model, pair = translator.model, forced_pair(translator.model, trace)
    losses = {}
    for head in all_heads(model.config):
        with torch.inference_mode(), removed(model, [Removal(*head)]):
            loss = sentence_losses(model, pair.source, pair.target, pair.written[None])
        losses[head] = float(loss)
    return losses


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks break-it`."""
    parser = commands.add_parser("break-it", help="heads until the translation changes")
    parser.add_argument("input", type=Path, help="sentences, one per line")
    parser.add_argument("--lines", type=whole_number(1), default=200, help="the first ones")
    parser.add_argument("--model", choices=BUNDLED_BY_NAME, default="bundled")
    parser.add_argument(
        "--first", action="store_true",
        help="compare the first head with all heads removed one by one, and nothing else",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    translator = Translator.load(BUNDLED_BY_NAME.get(options.model, BUNDLED))
    lines = options.input.read_text("utf-8").splitlines()
    texts = [line for line in lines if len(line.split()) >= WORDS][: options.lines]
    print(f"{describe()}; {len(texts)} sentences with {WORDS} words or more")
    if options.first:
        compare_first(translator, texts)
        return
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


def compare_first(translator: Translator, texts: list[str]) -> None:
    """Compare the first head of each order with the worst of all heads removed one by one."""
    same, off, seconds, alone = 0, 0.0, [], []
    for text in texts:
        trace = translator.trace(text)
        began = time.perf_counter()
        order = with_next_place(translator.model, trace, RemovalOrder())
        between = time.perf_counter()
        losses = losses_one_by_one(translator, trace)
        seconds.append(between - began)
        alone.append(time.perf_counter() - between)
        worst = max(losses, key=losses.__getitem__)
        same += order.removed[0] == worst
        off = max(off, abs(losses[order.removed[0]] + order.log_p[0]))
        if order.removed[0] != worst:
            print(f"another head: {order.removed[0].title}, not {worst.title}: {text}")
    print(f"the first head is the worst of all: {same} of {len(texts)}; log P off by {off:.1e}")
    print(f"the first head: {spread(seconds)}; all one by one: {spread(alone)}")
