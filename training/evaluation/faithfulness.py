"""headlight evaluate faithfulness: does erasing say what a lens says?"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
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
from transformer.files import documents
from transformer.trace import AttentionTrace

SENTENCES, PIECES = 100, 4
"""Pieces of each sentence, drawn at random, on which erasing is measured: more sentences tell more
than more pieces of one."""
CURVES = ("comprehensiveness", "sufficiency")
RANDOM = "random"
CHANGES = ("uniform", "permuted")  # weights that were put in the place of the model's own


Sample = tuple[dict[tuple[str, str], Floats], int]
"""Means over the written pieces of one sentence, by name, and how many it has."""


@dataclass(frozen=True)
class Curves:
    """The fall of log P of a written piece, in nats, one figure for each fraction."""

    comprehensiveness: tuple[stored.Figure, ...]  # the fall with the first words erased
    sufficiency: tuple[stored.Figure, ...]  # the fall with all others erased


@dataclass(frozen=True)
class LensFigures(Curves):
    """One lens: its curves, and how far it agrees with what erasing each single word says."""

    kendall: stored.Figure  # τ-b, mean over the pieces; 0 where all words are alike
    spearman: stored.Figure  # ρ, likewise


@dataclass(frozen=True)
class FaithfulnessReport(stored.Report):
    """All lenses on one corpus; sentences with fewer than two words are left out."""

    FORMAT, FILE = 1, "faithfulness.json"
    COMMAND = "headlight evaluate faithfulness"

    forced: bool  # whether the references were written, and not the model's own translations
    fractions: tuple[float, ...]  # the shares of the source words that were erased or kept
    lenses: Mapping[str, LensFigures]  # the figures of each lens, by `lenses.NAMES`
    random: Curves  # the curves of words in random order
    # change of log P in nats, by kind and `CHANGES`
    attention: Mapping[str, Mapping[str, stored.Figure]]


def add_arguments(commands: Any) -> None:
    """Register `headlight evaluate faithfulness`."""
    parser = commands.add_parser(
        "faithfulness",
        help="test whether erasing words agrees with a lens",
        parents=[measurement.corpus_options(SENTENCES)],
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "--ref",
        type=Path,
        action=measurement.OneReference,
        help="translations to force, one per line; default: the model's own",
    )


def run(options: argparse.Namespace) -> None:
    """Measure, store and print."""
    translator = measurement.load_translator(options, FaithfulnessReport.FILE)
    pairs: list[tuple[str, str | None]]
    if options.ref is None:
        pairs = [(line, None) for line in read_lines(options.src)]
    else:
        text = read_files(options.src, options.ref)
        pairs = list(zip(text.source, text.target, strict=True))
    if not pairs:
        raise CorpusError(f"{options.src} is empty: give at least one sentence.")
    pairs = measurement.drawn(pairs, options.sentences, options.seed)
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
    report = _report(translator, samples, options.seed, left_out, options.ref is not None)
    values = {"format": report.FORMAT, **documents.to_json(report)}
    content = json.dumps(values, indent=1) + "\n"
    measurement.store_or_write(translator.folder, options.out, {report.FILE: content.encode()})
    print(content.strip() if options.json else as_text(report))


def measure_trace(translator: Translator, trace: AttentionTrace, seed: int) -> Sample:
    """Run every test on one sentence; return the values and the number of written pieces."""
    model = translator.model
    without_each = drops_without_each_word(model, trace)
    written = len(trace.target_pieces)
    targets = np.array(measurement.drawn(range(written), PIECES, seed))
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


def _report(
    translator: Translator, samples: Sequence[Sample], seed: int, left_out: int, forced: bool
) -> FaithfulnessReport:
    drawn = resampling.resampled_weights(len(samples), seed)
    pieces = np.array([count for _, count in samples], dtype=float)

    def figures(name: str, measure: str) -> tuple[stored.Figure, ...]:
        intervals = resampling.mean_interval(
            np.stack([values[name, measure] for values, _ in samples]), drawn, pieces
        )
        bounds = zip(*(np.atleast_1d(values).tolist() for values in intervals), strict=True)
        return tuple(stored.Figure(*bound) for bound in bounds)

    def curves(name: str) -> dict[str, tuple[stored.Figure, ...]]:
        return {curve: figures(name, curve) for curve in CURVES}

    return FaithfulnessReport(
        weights=stored.checksum_of_weights(translator.folder),
        sentences=len(samples),
        left_out=left_out,
        forced=forced,
        fractions=FRACTIONS,
        lenses={
            name: LensFigures(
                **curves(name),
                kendall=figures(name, "kendall")[0],
                spearman=figures(name, "spearman")[0],
            )
            for name in lenses.NAMES
        },
        random=Curves(**curves(RANDOM)),
        attention={
            kind: {change: figures(kind, change)[0] for change in CHANGES} for kind in kinds.KINDS
        },
    )


def as_text(report: FaithfulnessReport) -> str:
    """Return a table of the lenses, with the change by uniform and permuted weights."""
    shares = "  ".join(f"{fraction:7.0%}" for fraction in report.fractions)
    whose = "the references" if report.forced else "the model's own translations"
    lines = [
        f"{report.sentences:,} sentences, {report.left_out:,} left out; pieces of {whose}",
        "fall of log P in nats with the first source words erased, and with all others erased",
        f"lens           first: {shares}   others: {shares}  Kendall  Spearman",
    ]
    rows: dict[str, Curves] = {RANDOM: report.random, **report.lenses}
    for name, curves in rows.items():
        first, others = (
            "  ".join(f"{figure.value:7.2f}" for figure in curve)
            for curve in (curves.comprehensiveness, curves.sufficiency)
        )
        agreement = ""
        if name in report.lenses:
            lens = report.lenses[name]
            agreement = f"  {lens.kendall.value:7.2f}  {lens.spearman.value:8.2f}"
        lines.append(f"{name:21} {first}           {others}{agreement}")
    for kind, changes in report.attention.items():
        row = ", ".join(
            f"{name} {figure.value:+.2f} ({figure.low:+.2f} to {figure.high:+.2f})"
            for name, figure in changes.items()
        )
        lines.append(f"change of log P of a piece, {kind}: {row}")
    return "\n".join(lines)
