"""By what the map of the model can be coloured: figures of the report, or roles on one sentence."""

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
    naming,
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
"""Measures of the report by the name on the screen and in the URL."""

_DIGITS = {"loss without": 2, "BLEU without": 1, "entropy": 1}
"""In a small cell."""


@dataclass(frozen=True)
class OnSentence:
    """What a head does on one sentence.

    Args:
        role: "" where nothing dominates.
        nearest: the role, or what comes nearest to one.
        score: of the nearest, as `role_scores` has it.
    """

    role: str
    nearest: str
    score: float


def is_signed(quantity: str) -> bool:
    """Whether it lies around 0."""
    return QUANTITIES[quantity] in SIGNED


def meaning(quantity: str) -> str:
    """What the cells say, in a sentence of our own."""
    measure = QUANTITIES[quantity]
    if quantity == ROLE:
        return (
            "What each head does most; the deeper, the more of its weight or of its rows. A faint "
            "name on a pale cell only comes nearest: there nothing dominates."
        )
    about = (MEASURES | IMPORTANCE)[measure]
    colours = " Olive is below 0 and purple above." if is_signed(quantity) else ""
    return f"{capitalised(about)}.{colours}"


def cells_of_report(report: HeadReport, quantity: str) -> dict[Kind, list[Cell]]:
    """What the map shows of each head of a report, by kind."""
    if quantity == ROLE:
        found = [_role_cell(figures) for figures in report.heads]
    else:
        most = _most(report, QUANTITIES[quantity])
        found = [_measure_cell(figures, QUANTITIES[quantity], most) for figures in report.heads]
    return {kind: [cell for cell in found if cell.head.kind == kind] for kind in KINDS}


def cells_of_sentence(trace: AttentionTrace) -> dict[Kind, list[Cell]]:
    """The roles on one sentence, where nothing was measured on a corpus."""
    return {
        kind: [
            Cell(
                head,
                one.score if one.role else 0.0,
                SHORT.get(one.nearest, one.nearest),
                f"{_named(one.role, one.nearest)} {per_cent(one.score)} on this sentence",
                faint=not one.role,
            )
            for head, one in roles_on(trace, kind).items()
        ]
        for kind in KINDS
    }


def roles_on(trace: AttentionTrace, kind: Kind) -> dict[Head, OnSentence]:
    """The role of each head of a kind on one sentence."""

    def compute() -> dict[Head, OnSentence]:
        axes = by_pieces(trace, kind)
        scores = role_scores(axes, kind)
        names = [*scores]
        strengths = np.stack([values / ROLES[name] for name, values in scores.items()])
        nearest = strengths.argmax(0)  # [layer, head]
        found = {}
        for layer, roles in enumerate(head_roles(axes, kind)):
            for head, role in enumerate(roles):
                name = role or names[nearest[layer, head]]
                score = float(scores[name][layer, head])
                found[Head(kind, layer, head)] = OnSentence(role, name, score)
        return found

    return memo_per_trace(trace, ("roles of heads", kind), compute)


def _role_cell(figures: HeadFigures) -> Cell:
    measure, figure, _ = naming(figures)
    nearest = figures.role or measure
    value = figure.value if figures.role else 0.0
    says = f"{_named(figures.role, measure)} {with_interval(measure, figure)}"
    return Cell(figures.place, value, SHORT.get(nearest, nearest), says, faint=not figures.role)


def _named(role: str, nearest: str) -> str:
    return role or f"no one role, nearest {nearest}"


def _measure_cell(figures: HeadFigures, measure: str, most: float) -> Cell:
    figure = figures.measures.get(measure)
    if figure is None:
        return Cell(figures.place, None, "", "not measured for this kind")
    says = with_interval(measure, figure)
    if measure in SHARES:
        text = format_number(100 * figure.value, 0)
    else:
        text = as_text(measure, figure.value).split(" ")[0]
        digits = _DIGITS.get(measure)
        if digits is not None:
            text = _shorter(figure.value, digits, signed=measure in SIGNED)
    return Cell(figures.place, figure.value / most, text, says)


def _shorter(value: float, digits: int, *, signed: bool) -> str:
    """`+0.04` for 0.043, and `0` for 0.004: in a narrow cell `0.00` would say no more."""
    return format_number(value, digits, sign=signed) if round(value, digits) else "0"


def _most(report: HeadReport, measure: str) -> float:
    """What gets the deepest colour: one scale for the three kinds."""
    if measure in SHARES:
        return 1.0
    values = [abs(one.measures[measure].value) for one in report.heads if measure in one.measures]
    return max(values) or 1.0
