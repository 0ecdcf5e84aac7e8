"""headlight evaluate faithfulness: does erasing say what a lens says?"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from training.data.corpus import CorpusError, read_files, read_lines
from training.evaluation import measurement
from transformer import InputError, Translator, kinds
from transformer.analysis import lenses, stored
from transformer.arrays import Floats
from transformer.cli import command
from transformer.corpus import resampling
from transformer.corpus.faithfulness import (
    FRACTIONS,
    Erasing,
    drops_without_each_word,
    lens_faithfulness,
    mean_agreement,
    permuted_changes,
    random_erasing,
    source_words,
    uniform_changes,
)
from transformer.trace import AttentionTrace

SENTENCES, PIECES = 100, 4
"""Pieces of each sentence, drawn at random, on which erasing is measured: more sentences tell more
than more pieces of one."""
CURVES = ("comprehensiveness", "sufficiency")
RANDOM = "random"

Sample = tuple[dict[tuple[str, str], Floats], int]
"""Means over the written pieces of one sentence, by name and measure, and how many it has."""


def add_arguments(commands: Any) -> None:
    """Register `headlight evaluate faithfulness`."""
    parser = commands.add_parser(
        "faithfulness",
        help="test whether erasing words agrees with a lens",
        parents=[measurement.corpus_options(SENTENCES, out="file to write, as JSON")],
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "--ref",
        type=Path,
        action=measurement.OneReference,
        help="translations to force, one per line; default: the model's own",
    )


def run(options: argparse.Namespace) -> None:
    """Measure, write and print."""
    if options.out:
        command.require_place(options.out)
    translator = measurement.load_translator(options)
    pairs: list[tuple[str, str | None]]
    if options.ref is None:
        pairs = [(line, None) for line in read_lines(options.src)]
    else:
        text = read_files(options.src, options.ref)
        pairs = list(zip(text.source, text.target, strict=True))
    if not pairs:
        raise CorpusError(f"{options.src} is empty: give at least one sentence.")
    pairs = measurement.draw_sample(pairs, options.sentences, options.seed)
    samples = []
    for source, target in tqdm(pairs, "faithfulness", unit="sentence", disable=None):
        try:
            trace = (
                translator.trace(source, beam_size=1)
                if target is None
                else translator.trace(source, target)
            )
            source_words(trace)
        except InputError:
            continue
        samples.append(measure_trace(translator, trace, options.seed))
    left_out = len(pairs) - len(samples)
    if left_out:
        command.say(f"{left_out:,} sentences are empty, too long or of one word, and left out.")
    if not samples:
        raise CorpusError(f"{options.src} has no sentence of two words or more: give one.")
    table = figures(samples, options.seed)
    about = {
        "weights": stored.checksum_of_weights(translator.folder),
        "sentences": len(samples),
        "left_out": left_out,
        "forced": options.ref is not None,
    }
    content = json.dumps({**about, "figures": table.to_dict("records")}, indent=1)
    if options.out:
        command.save(options.out, f"{content}\n")
    if options.json:
        print(content)
        return
    whose = "the model's own translations" if options.ref is None else "the references"
    print(f"{len(samples):,} sentences, {left_out:,} left out; pieces of {whose}")
    print(as_text(table))


def measure_trace(translator: Translator, trace: AttentionTrace, seed: int) -> Sample:
    """Run every test on one sentence; return the values and the number of written pieces."""
    model = translator.model
    without_each = drops_without_each_word(model, trace)
    written = len(trace.target_pieces)
    targets = np.array(measurement.draw_sample(range(written), PIECES, seed))
    values = _curve_means(RANDOM, random_erasing(model, trace, seed, targets=targets))
    for name in lenses.NAMES:
        faithfulness = lens_faithfulness(translator, trace, name, without_each, targets)
        values |= _curve_means(name, faithfulness.erasing)
        values[name, "kendall"] = np.nan_to_num(mean_agreement(faithfulness.kendall))
        values[name, "spearman"] = np.nan_to_num(mean_agreement(faithfulness.spearman))
    for kind in kinds.KINDS:
        values[kind, "uniform"] = uniform_changes(model, trace, kind).mean()
        values[kind, "permuted"] = permuted_changes(model, trace, kind, seed=seed).mean()
    return values, written


def _curve_means(name: str, erasing: Erasing) -> dict[tuple[str, str], Floats]:
    return {(name, curve): getattr(erasing, curve).mean(0) for curve in CURVES}


def figures(samples: Sequence[Sample], seed: int) -> pd.DataFrame:
    """Average over the sentences: one row for each lens or kind, measure and share of the words."""
    drawn = resampling.resampled_weights(len(samples), seed)
    pieces = np.array([count for _, count in samples], dtype=float)
    rows: list[tuple[Any, ...]] = []
    for name, measure in samples[0][0]:
        values = np.stack([sample[name, measure] for sample, _ in samples])
        interval = map(np.atleast_1d, resampling.mean_interval(values, drawn, pieces))
        shares = FRACTIONS if measure in CURVES else [None]
        bounds = (column.tolist() for column in interval)
        rows += [(name, measure, *row) for row in zip(shares, *bounds, strict=True)]
    table = pd.DataFrame(rows, columns=["of", "measure", "share", "value", "low", "high"])
    return table.astype({"share": object}).where(table.notna(), None)


def as_text(table: pd.DataFrame) -> str:
    """Return a table of the lenses, and one of the change by uniform and permuted weights."""
    of_kind, of_curve = table["of"].isin(kinds.KINDS), table["measure"].isin(CURVES)
    curves = table[of_curve].pivot(index="of", columns=["measure", "share"], values="value")
    agreement = table[~of_kind & ~of_curve].pivot(index="of", columns="measure", values="value")
    changes = table[of_kind].drop(columns="share")
    style: dict[str, Any] = {"float_format": "{:.2f}".format, "na_rep": "–"}
    return "\n".join([
        "Fall of log P of a piece, in nats, with a share of the source words erased: of the first "
        "ones by a lens (comprehensiveness), or of all others (sufficiency)",
        curves.astype(float).to_string(**style),
        "Agreement of a lens with the fall without each single word",
        agreement.astype(float).to_string(**style),
        "Change of log P of a piece with other weights in the place of the model's own",
        changes.to_string(index=False, **style),
    ])  # fmt: skip
