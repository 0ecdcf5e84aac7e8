"""Quantities that colour the map: measures of the report, or the roles on one sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from transformer import AttentionTrace, Kind
from transformer.analysis.axes import by_pieces
from transformer.analysis.corpus.corpus_roles import MEASURES, ROLES
from transformer.analysis.corpus.head_report import HeadFigures, HeadReport
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.importance import IMPORTANCE
from transformer.analysis.heads.roles import head_roles, role_scores
from transformer.kinds import KINDS
from viz.app.cache.memory import memo_per_trace
from viz.draw.formatting import format_number, per_cent
from viz.draw.labels import capitalised
from viz.pages.roles.corpus_roles.map import Cell
from viz.pages.roles.corpus_roles.text import (
    SHARES,
    SHORT,
    SIGNED,
    as_text,
    deciding_measure,
    with_interval,
)

ROLE = "role"
QUANTITIES: dict[str, str] = {
    ROLE: "",
    "confidence": "confidence",
    "entropy": "entropy",
    "share at one offset": "positional",
    "sinks": "sink",
    "same word": "same word",
    "rare word": "rare word",
    "alignment": "aligns",
    "importance by gradient": "gradient",
    "change of loss": "loss without",
    "change of BLEU": "BLEU without",
}
"""Name of each measure in the report, by its name on the screen and in the URL."""

_CELL_DIGITS = {"loss without": 2, "BLEU without": 1, "entropy": 1}
"""Decimals in a cell, by measure."""


@dataclass(frozen=True)
class SentenceRole:
    """Role of a head on one sentence.

    Args:
        role: name of the role; "" below every threshold.
        nearest: the role, or the one nearest to its threshold.
        score: score of `nearest`, as `role_scores` computes it.
    """

    role: str
    nearest: str
    score: float


def is_signed(quantity: str) -> bool:
    """Return whether a quantity has values below 0."""
    return QUANTITIES[quantity] in SIGNED


def describe_quantity(quantity: str) -> str:
    """Describe a quantity in one or two sentences."""
    measure = QUANTITIES[quantity]
    if quantity == ROLE:
        return (
            "What each head does most; the deeper, the more of its weight or of its rows. A faint "
            "name on a pale cell only comes nearest: there nothing dominates."
        )
    description = (MEASURES | IMPORTANCE)[measure]
    colours = " Olive is below 0 and purple above." if is_signed(quantity) else ""
    return f"{capitalised(description)}.{colours}"


def report_cells(report: HeadReport, quantity: str) -> dict[Kind, list[Cell]]:
    """Build the cells of a report's heads, by kind."""
    if quantity == ROLE:
        cells = [_role_cell(figures) for figures in report.heads]
    else:
        maximum = _largest_value(report, QUANTITIES[quantity])
        cells = [_measure_cell(figures, QUANTITIES[quantity], maximum) for figures in report.heads]
    return {kind: [cell for cell in cells if cell.head.kind == kind] for kind in KINDS}


def sentence_cells(trace: AttentionTrace) -> dict[Kind, list[Cell]]:
    """Build the cells of the roles on one sentence, by kind."""
    return {
        kind: [
            Cell(
                head,
                result.score if result.role else 0.0,
                SHORT.get(result.nearest, result.nearest),
                f"{_role_name(result.role, result.nearest)} {per_cent(result.score)} "
                f"on this sentence",
                faint=not result.role,
            )
            for head, result in sentence_roles(trace, kind).items()
        ]
        for kind in KINDS
    }


def sentence_roles(trace: AttentionTrace, kind: Kind) -> dict[Head, SentenceRole]:
    """Compute the role of each head of a kind on one sentence."""

    def compute() -> dict[Head, SentenceRole]:
        axes = by_pieces(trace, kind)
        scores = role_scores(axes, kind)
        names = [*scores]
        strengths = np.stack([values / ROLES[name] for name, values in scores.items()])
        nearest = strengths.argmax(0)  # [layer, head]
        results = {}
        for layer, roles in enumerate(head_roles(axes, kind)):
            for head, role in enumerate(roles):
                name = role or names[nearest[layer, head]]
                score = float(scores[name][layer, head])
                results[Head(kind, layer, head)] = SentenceRole(role, name, score)
        return results

    return memo_per_trace(trace, ("roles of heads", kind), compute)


def _role_cell(figures: HeadFigures) -> Cell:
    measure, figure, _ = deciding_measure(figures)
    nearest = figures.role or measure
    value = figure.value if figures.role else 0.0
    description = f"{_role_name(figures.role, measure)} {with_interval(measure, figure)}"
    return Cell(
        figures.place, value, SHORT.get(nearest, nearest), description, faint=not figures.role
    )


def _role_name(role: str, nearest: str) -> str:
    return role or f"no one role, nearest {nearest}"


def _measure_cell(figures: HeadFigures, measure: str, maximum: float) -> Cell:
    figure = figures.measures.get(measure)
    if figure is None:
        return Cell(figures.place, None, "", "not measured for this kind")
    description = with_interval(measure, figure)
    if measure in SHARES:
        text = format_number(100 * figure.value, 0)
    else:
        text = as_text(measure, figure.value).split(" ")[0]
        digits = _CELL_DIGITS.get(measure)
        if digits is not None:
            text = _short_number(figure.value, digits, signed=measure in SIGNED)
    return Cell(figures.place, figure.value / maximum, text, description)


def _short_number(value: float, digits: int, *, signed: bool) -> str:
    """Format `+0.04` for 0.043, and `0` for 0.004, where `0.00` would say no more."""
    return format_number(value, digits, sign=signed) if round(value, digits) else "0"


def _largest_value(report: HeadReport, measure: str) -> float:
    """Return the value with the deepest colour: one scale for the three kinds."""
    if measure in SHARES:
        return 1.0
    values = [
        abs(figures.measures[measure].value)
        for figures in report.heads
        if measure in figures.measures
    ]
    return max(values) or 1.0
