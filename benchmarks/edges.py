"""Edges between heads: how well attribution agrees with patching, and whether edges are learnt.

That the strongest edges exceed random ones holds of random weights, too: it is a test of the
attribution. The test of the edges: those of one sentence are patched in another of the same
construction with other words. In a model that has learnt the construction, some of them matter
there as well, for the same side.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.machine import describe, spread, table
from transformer import AttentionTrace, Transformer, Translator, decoding
from transformer.analysis.teacher_forcing import forced_pair, values_at
from transformer.arrays import Floats
from transformer.circuits.edges import SEED, STRONGEST, Circuit, patch_strongest
from transformer.circuits.pairs import BUNDLED_PAIRS, MinimalPair, encode_pair, read_pairs
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


class Choice(NamedTuple):
    """The choice between the two words of a minimal pair, on its first sentence."""

    group: str
    trace: AttentionTrace
    step: int
    pieces: tuple[int, int]


def choices_of(translator: Translator, pairs: Sequence[MinimalPair]) -> Iterator[Choice]:
    """Find the step and the pieces of each pair in the model's translation."""
    for pair in pairs:
        encoded = encode_pair(translator, pair)
        trace = translator.trace(pair.sentences[0])
        yield Choice(pair.group, trace, len(encoded.target) - 1, encoded.pieces)


def untrained(model: Transformer, seed: int) -> Transformer:
    """Make a model of the same shape with random weights."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Transformer(model.config).eval()


def carried_over(model: Transformer, choices: Sequence[Choice]) -> Floats:
    """Patch the strongest edges of each choice in the others of its group without its pieces.

    `[choice]`: what the log-odds lose for the side that an edge has in its own sentence, as a share
    of what this choice loses with its own strongest edges; mean over the others.
    """
    circuits = [Circuit(model, trace, step, pieces[1]) for _, trace, step, pieces in choices]
    own = [patch_strongest(circuit, seed=None) for circuit in circuits]
    shares = []
    for here, circuit, mine in zip(choices, circuits, own, strict=True):
        lost = [
            np.sign(other.lost) @ circuit.patched(other.edges)
            for there, other in zip(choices, own, strict=True)
            if there.group == here.group and not {*there.pieces} & {*here.pieces}
        ]
        shares.append(np.mean(lost) / np.abs(mine.lost).sum() if lost else np.nan)
    return np.array(shares)


def found_of_all(circuit: Circuit) -> tuple[bool, int]:
    """Patch every edge: whether the strongest is found, and how many of the strongest 30 are."""
    edges = [*circuit.attributed()]
    lost = np.abs(circuit.patched(edges))
    strongest = [edges[n] for n in np.argsort(-lost)[:STRONGEST]]
    chosen = patch_strongest(circuit, seed=None).edges
    return chosen[0] == strongest[0], len({*chosen} & {*strongest})


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks edges`."""
    parser = commands.add_parser("edges", help="attributed and patched edges between heads")
    parser.add_argument("input", type=Path, help="sentences, one per line")
    parser.add_argument("--lines", type=whole_number(2), default=50, help="evenly spaced ones")
    parser.add_argument("--all", type=whole_number(0), default=5, help="lines with all patched")
    parser.add_argument("--seeds", type=whole_number(1), default=5, help="models of random weights")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    translator = Translator.load()
    lines = options.input.read_text("utf-8").splitlines()
    texts = lines[:: max(1, len(lines) // options.lines)][: options.lines]
    traces = [translator.trace(text) for text in texts]
    contrasts = [(trace, *closest_contrast(translator, trace)) for trace in traces]
    models = {"bundled": translator.model} | {
        f"random weights {seed}": untrained(translator.model, seed)
        for seed in range(1, options.seeds + 1)
    }
    print(f"{describe()}; {len(contrasts)} contrasts, one of each sentence")
    for name, model in [*models.items()][:2]:
        print(f"\n{name}: the strongest edges beside random ones")
        print(agreement_table(model, contrasts))
    recall = [
        found_of_all(Circuit(translator.model, *contrast)) for contrast in contrasts[: options.all]
    ]
    for first, count in recall:
        print(f"all edges patched: strongest found: {first}; of the strongest 30: {count}")
    pairs = read_pairs(BUNDLED_PAIRS[translator.languages.source].read_bytes())
    choices = [*choices_of(translator, pairs)]
    rows = []
    for name, model in models.items():
        shares = carried_over(model, choices)
        shares = shares[~np.isnan(shares)]
        weights = resampled_weights(len(shares), SEED)
        value, low, high = mean_interval(shares, weights, np.ones(len(shares)))
        rows.append((name, f"{value:.3f}", f"{low:.3f} to {high:.3f}"))
    print(f"\ncarried over to sentences of the same construction, {len(choices)} pairs")
    print(table(("model", "share", "95 % interval"), rows))


def agreement_table(
    model: Transformer, contrasts: Sequence[tuple[AttentionTrace, int, int]]
) -> str:
    """Write how the strongest edges of each contrast compare with random ones."""
    figures, seconds = [], []
    for seed, contrast in enumerate(contrasts, start=SEED):
        began = time.perf_counter()
        patched = patch_strongest(Circuit(model, *contrast), seed=seed)
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
        f"of {STRONGEST}: hold",
    )
    rows = [
        (name, f"{value:.2f}", f"{low:.2f} to {high:.2f}", f"{least:.2f}")
        for name, value, low, high, least in zip(names, *means, values.min(0), strict=True)
    ]
    header = "figure", "mean", "95 % interval", "smallest"
    return f"{table(header, rows)}\nattribution and {2 * STRONGEST} patches: {spread(seconds)}"
