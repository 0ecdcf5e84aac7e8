"""Heads and edges that carry minimal pairs, and dictionaries of the cross-attention.

Edges are learnt, and not a property of any weights, if those of one sentence matter in another of
the same construction with other words: random weights have no such edges.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

from benchmarks.machine import describe, table
from tests.pairs_file import pairs_file
from training.evaluation.measurement import store
from transformer import AttentionTrace, Transformer, Translator
from transformer.arrays import Floats
from transformer.circuits import pairs_report
from transformer.circuits.dictionary import dictionaries_table, measure_dictionaries
from transformer.circuits.edges import SEED, Circuit, patch_strongest
from transformer.circuits.pairs import (
    BUNDLED_PAIRS,
    LOST,
    POSITIONS,
    MinimalPair,
    Site,
    effects_table,
    encode_pair,
    measure_pairs,
    read_pairs,
)
from transformer.cli.arguments import whole_number
from transformer.corpus import result_file
from transformer.corpus.measured import MeasuredLines
from transformer.corpus.measuring import measure_lines
from transformer.corpus.resampling import mean_interval, resampled_weights

SHOWN = 8  # heads of a table


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks circuits`."""
    parser = commands.add_parser("circuits", help="minimal pairs and dictionaries of heads")
    parser.add_argument("--input", type=Path, help="sentences for dictionaries; else the examples")
    parser.add_argument("--lines", type=whole_number(1), default=500, help="evenly spaced ones")
    parser.add_argument("--checkpoint", type=Path, help="folder; default: the bundled checkpoint")
    parser.add_argument("--seeds", type=whole_number(1), default=5, help="models of random weights")
    parser.add_argument("--store", action="store_true", help="store the pairs beside it, and end")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    translator = Translator.load(options.checkpoint)
    print(describe())
    began = time.perf_counter()
    pairs = read_pairs(BUNDLED_PAIRS[translator.languages.source].read_bytes())
    measured = measure_pairs(translator, pairs)
    print(f"{len(measured.pairs)} pairs in {time.perf_counter() - began:.0f} s")
    if options.store:
        store(translator.folder, {pairs_report.FILE: pairs_file(translator, measured)})
        return
    for group in ("", *dict.fromkeys(pair.group for pair in measured.pairs)):
        patched = measured.in_group(group).patched
        effects = effects_table(patched).nlargest(SHOWN if not group else 3, LOST)
        print(f"\n{group or 'all'}: {patched.whole.mean():.2f} nats lost in all")
        print(heads_table(effects, LOST, "control"))
    print(f"\nthe stream, all\n{stream_table(effects_table(measured.patched, Site))}")
    choices = [*choices_of(translator, pairs)]
    models = [("the model", translator.model)]
    models += [
        (f"random weights {n}", untrained(translator.model, n + 1)) for n in range(options.seeds)
    ]
    rows = [(name, *shown_share(carried_over(model, choices))) for name, model in models]
    print("\nstrongest edges, carried over to sentences of the same construction")
    print(table(("weights", "share", "95 % interval"), rows))
    lines = measured_lines(translator, options.input, options.lines)
    began = time.perf_counter()
    dictionaries = measure_dictionaries(translator, lines)
    shares = dictionaries_table(dictionaries)
    print(
        f"\ndictionaries over {len(lines)} lines, {len(dictionaries.pieces)} pieces, in "
        f"{time.perf_counter() - began:.0f} s: {(shares['p'] < 0.05).sum()} of {len(shares)} heads "
        f"exceed chance"
    )
    print(heads_table(shares.nlargest(SHOWN, "share"), "share", "shuffled"))
    print("\nlargest share of each layer")
    print(heads_table(shares.loc[shares.groupby("layer")["share"].idxmax()], "share", "shuffled"))


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


def shown_share(shares: Floats) -> tuple[str, str]:
    """Return the mean share and its interval; NaN stands for a choice without another."""
    shares = shares[~np.isnan(shares)]
    value, low, high = mean_interval(
        shares, resampled_weights(len(shares), SEED), np.ones(len(shares))
    )
    return f"{value:.3f}", f"{low:.3f} to {high:.3f}"


def measured_lines(translator: Translator, path: Path | None, count: int) -> MeasuredLines:
    """Measure evenly spaced lines of a file; without one, return the bundled measurement."""
    if path is None:
        return result_file.read_lines(translator.folder / result_file.FILE, translator)
    lines = path.read_text("utf-8").splitlines()
    texts = lines[:: max(1, len(lines) // count)][:count]
    return measure_lines(translator, texts, costs=False, sources=False)


def stream_table(sites: pd.DataFrame) -> str:
    """Write what the stream carries, with its interval: a row for each layer of a stack."""
    cells = sites.assign(
        cell=[
            f"{row[LOST]:.2f} ({row['low']:.2f} to {row['high']:.2f})"
            for _, row in sites.iterrows()
        ]
    ).pivot(index=["stack", "layer"], columns="positions", values="cell")
    names = [name for names in POSITIONS.values() for name in names]
    rows = [(f"{s} L{n}", *row) for (s, n), *row in cells[names].fillna("").itertuples()]
    return table(("stream after", *names), rows)


def heads_table(rows: pd.DataFrame, value: str, control: str) -> str:
    """Write heads with a value, its interval, its control and p."""
    header = ("head", value, "95 % interval", control, "p (Holm)")
    cells = [
        (
            f"{row['kind']} L{row['layer']} H{row['head']}",
            f"{row[value]:.3f}",
            f"{row['low']:.3f} to {row['high']:.3f}",
            f"{row[control]:.3f}",
            f"{row['p']:.3f}",
        )
        for _, row in rows.iterrows()
    ]
    return table(header, cells)
