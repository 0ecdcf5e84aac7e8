"""Faithfulness of each lens on a corpus, as it is stored beside a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer.analysis.corpus.stored import (
    Figure,
    count,
    figure,
    number,
    read_json,
    require_same_weights,
    rounded,
    text,
)
from transformer.analysis.lenses.names import NAMES
from transformer.errors import quoted
from transformer.files.reading import MIB
from transformer.kinds import KINDS

FORMAT = 1
FILE = "faithfulness.json"
COMMAND = "python -m training.evaluate faithfulness"
MOST_BYTES = MIB
CHANGES = ("uniform", "permuted")
"""Weights that were put in the place of the model's own."""


@dataclass(frozen=True)
class Curves:
    """The fall of log P of a written piece, in nats, one figure for each fraction.

    Args:
        comprehensiveness: the fall with the first words erased.
        sufficiency: the fall with all others erased.
    """

    comprehensiveness: tuple[Figure, ...]
    sufficiency: tuple[Figure, ...]


@dataclass(frozen=True)
class LensFigures:
    """One lens: its curves, and how far it agrees with what erasing each single word says.

    Args:
        curves: the fall in the lens's order of the words.
        kendall: τ-b, mean over the written pieces; one for which all words are alike counts as 0.
        spearman: ρ, likewise.
    """

    curves: Curves
    kendall: Figure
    spearman: Figure


@dataclass(frozen=True)
class FaithfulnessReport:
    """All lenses on one corpus.

    Args:
        weights: SHA-256 of the weights that were measured.
        sentences: the number of sentences that were measured.
        left_out: the number of those with fewer than two words, or empty or too long.
        forced: whether the references were written, and not the model's own translations.
        fractions: the shares of the source words that were erased or kept.
        lenses: the figures of each lens, by `lenses.NAMES`.
        random: the curves of words in random order.
        attention: by kind, then by `CHANGES`: the change of log P of a piece in nats.
    """

    weights: str
    sentences: int
    left_out: int
    forced: bool
    fractions: tuple[float, ...]
    lenses: Mapping[str, LensFigures]
    random: Curves
    attention: Mapping[str, Mapping[str, Figure]]


def to_json(report: FaithfulnessReport) -> str:
    """Format the text of `faithfulness.json`."""
    values = {
        "format": FORMAT,
        "weights": report.weights,
        "sentences": report.sentences,
        "left_out": report.left_out,
        "forced": report.forced,
        "fractions": list(report.fractions),
        "lenses": {
            name: {
                **_curve_values(lens.curves),
                "kendall": rounded(lens.kendall),
                "spearman": rounded(lens.spearman),
            }
            for name, lens in report.lenses.items()
        },
        "random": _curve_values(report.random),
        "attention": {
            kind: {name: rounded(value) for name, value in changes.items()}
            for kind, changes in report.attention.items()
        },
    }
    return json.dumps(values, indent=1) + "\n"


def read(folder: Path) -> FaithfulnessReport | None:
    """Read the report of a checkpoint folder; None where there is none.

    Raises:
        CheckpointError: if it cannot be read, or belongs to other weights.
    """
    report = read_json(folder / FILE, MOST_BYTES, _report, COMMAND)
    if report is not None:
        require_same_weights(folder / FILE, report.weights, COMMAND)
    return report


def _curve_values(curves: Curves) -> dict[str, list[list[float]]]:
    return {
        "comprehensiveness": [rounded(value) for value in curves.comprehensiveness],
        "sufficiency": [rounded(value) for value in curves.sufficiency],
    }


def _report(values: Any) -> FaithfulnessReport:
    """Raise ValueError, TypeError or KeyError unless these are the values of a report."""
    if values["format"] != FORMAT:
        raise ValueError(f"format {quoted(values['format'])}")
    fractions = tuple(map(number, values["fractions"]))
    lenses = {
        text(name): LensFigures(
            _curves(figures, len(fractions)),
            figure(figures["kendall"]),
            figure(figures["spearman"]),
        )
        for name, figures in values["lenses"].items()
    }
    if not fractions or not lenses or not lenses.keys() <= {*NAMES}:
        raise ValueError("there is no fraction, or there are other lenses than ours")
    return FaithfulnessReport(
        weights=text(values["weights"]),
        sentences=count(values["sentences"]),
        left_out=count(values["left_out"]),
        forced=values["forced"] is True,
        fractions=fractions,
        lenses=lenses,
        random=_curves(values["random"], len(fractions)),
        attention={
            kind: {name: figure(values["attention"][kind][name]) for name in CHANGES}
            for kind in KINDS
        },
    )


def _curves(values: Any, points: int) -> Curves:
    curves = Curves(
        tuple(map(figure, values["comprehensiveness"])),
        tuple(map(figure, values["sufficiency"])),
    )
    if not len(curves.comprehensiveness) == len(curves.sufficiency) == points:
        raise ValueError("a curve has another number of points")
    return curves
