"""Heads that carry minimal pairs, and dictionaries of the cross-attention, of the bundled model."""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.machine import describe, table
from training.evaluation.measurement import store
from transformer import Translator
from transformer.analysis.stored import checksum_of_weights
from transformer.circuits import pairs_report
from transformer.circuits.dictionary import dictionaries_table, measure_dictionaries
from transformer.circuits.pairs import (
    BUNDLED_PAIRS,
    LOST,
    POSITIONS,
    MeasuredPairs,
    Site,
    effects_table,
    measure_pairs,
    read_pairs,
)
from transformer.cli.arguments import whole_number
from transformer.corpus import result_file
from transformer.corpus.measured import MeasuredLines
from transformer.corpus.measuring import measure_lines
from transformer.files.documents import to_json

SHOWN = 8  # heads of a table


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks circuits`."""
    parser = commands.add_parser("circuits", help="minimal pairs and dictionaries of heads")
    parser.add_argument("--input", type=Path, help="sentences for dictionaries; else the examples")
    parser.add_argument("--lines", type=whole_number(1), default=500, help="evenly spaced ones")
    parser.add_argument("--checkpoint", type=Path, help="folder; default: the bundled checkpoint")
    parser.add_argument("--store", action="store_true", help="store the pairs beside it, and end")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    translator = Translator.load(options.checkpoint)
    print(describe())
    began = time.perf_counter()
    path = BUNDLED_PAIRS[translator.languages.source]
    measured = measure_pairs(translator, read_pairs(path.read_bytes()))
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


def measured_lines(translator: Translator, path: Path | None, count: int) -> MeasuredLines:
    """Measure evenly spaced lines of a file; without one, return the bundled measurement."""
    if path is None:
        return result_file.read_lines(translator.folder / result_file.FILE, translator)
    lines = path.read_text("utf-8").splitlines()
    texts = lines[:: max(1, len(lines) // count)][:count]
    return measure_lines(translator, texts, costs=False, sources=False)


def pairs_file(translator: Translator, measured: MeasuredPairs) -> bytes:
    """Write measured pairs as the content of the file beside a model."""
    patched = measured.patched
    lost, control = (
        tuple(tuple(None if np.isnan(x) else x for x in row) for row in values.tolist())
        for values in (patched.lost, patched.control)
    )
    report = pairs_report.PairsReport(
        checksum_of_weights(translator.folder),
        len(measured.pairs),
        len(measured.left_out),
        measured.pairs,
        tuple(patched.whole.tolist()),
        lost,
        control,
    )
    content = {"format": report.FORMAT, **to_json(report)}
    return (json.dumps(content, ensure_ascii=False) + "\n").encode()


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
