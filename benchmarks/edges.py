"""Edges between heads: how well attribution agrees with patching, and how long both take."""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe, spread, table
from transformer import AttentionTrace, Translator, decoding
from transformer.analysis.teacher_forcing import forced_pair, values_at
from transformer.circuits.edges import SEED, STRONGEST, Circuit, patch_strongest
from transformer.cli.arguments import whole_number
from transformer.corpus.resampling import mean_interval, resampled_weights


def closest_contrast(translator: Translator, trace: AttentionTrace) -> tuple[int, int]:
    """Find the step at which another piece comes closest to the written one, and that piece."""
    pair = forced_pair(translator.model, trace)
    logits, _ = values_at(translator.model, pair, ())
    steps = range(len(pair.written))
    own = logits[steps, pair.written].clone()
    logits[:, list(decoding.NEVER_WRITTEN)] = -np.inf
    logits[steps, pair.written] = -np.inf
    best, others = logits.max(-1)
    step = int((own - best).argmin())
    return step, int(others[step])


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks edges`."""
    parser = commands.add_parser("edges", help="attributed and patched edges between heads")
    parser.add_argument("input", type=Path, help="sentences, one per line")
    parser.add_argument("--lines", type=whole_number(2), default=50, help="evenly spaced ones")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    translator = Translator.load()
    lines = options.input.read_text("utf-8").splitlines()
    texts = lines[:: max(1, len(lines) // options.lines)][: options.lines]
    figures, seconds = [], []
    for seed, text in enumerate(texts, start=SEED):
        trace = translator.trace(text)
        step, other = closest_contrast(translator, trace)
        began = time.perf_counter()
        patched = patch_strongest(Circuit(translator.model, trace, step, other), seed=seed)
        seconds.append(time.perf_counter() - began)
        agreed = np.sign(patched.lost) == np.sign(patched.attributed)
        figures.append(
            (
                patched.correlation,
                patched.size_correlation,
                float(patched.beat_random.sum()),
                float(agreed.sum()),
                float(patched.hold.sum()),
            )
        )
    values = np.array(figures)
    means = mean_interval(values, resampled_weights(len(values), SEED), np.ones(len(values)))
    names = (
        "rank correlation of attributed and patched",
        "the same of sizes without signs",
        f"of {STRONGEST}: change the log-odds more than each random edge",
        f"of {STRONGEST}: same sign",
        f"of {STRONGEST}: both",
    )
    print(f"{describe()}; {len(values)} contrasts, one of each sentence")
    rows = [
        (name, f"{value:.2f}", f"{low:.2f} to {high:.2f}", f"{least:.2f}")
        for name, value, low, high, least in zip(names, *means, values.min(0), strict=True)
    ]
    print(table(("figure", "mean", "95 % interval", "smallest"), rows))
    print(f"attribution and {2 * STRONGEST} patches: {spread(seconds)}")
