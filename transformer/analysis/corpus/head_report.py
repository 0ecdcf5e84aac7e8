"""Measurements of every head on a corpus, as they are stored beside a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from transformer.analysis.corpus import stored
from transformer.analysis.corpus.corpus_roles import measures_of
from transformer.analysis.corpus.stored import Count, Figure, Report
from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.importance import IMPORTANCE
from transformer.analysis.heads.means import AGAIN, COMMAND
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError
from transformer.files.reading import MIB

FORMAT = 2  # 1 counted “same word” by the letters of pieces
FILE = "heads.json"
MOST_BYTES = 16 * MIB


class Example(NamedTuple):
    """A sentence on which a head does what its role says.

    Args:
        source: the source sentence.
        target: the translation of the model.
        score: the score of the head's role on this sentence; that of its confidence without a role.
    """

    source: str
    target: str
    score: float


@dataclass(frozen=True)
class HeadFigures:
    """One head.

    Args:
        place: the head.
        role: its most frequent role on the corpus; "" where nothing dominates.
        offset: the most frequent offset of the key with the largest weight, in tokens.
        measures: its figures, by the names of `corpus_roles.MEASURES` and `importance.IMPORTANCE`.
        examples: the sentences with the highest scores of its role, or, without a role, of its
            confidence.
    """

    place: Head = field(metadata={"key": "head"})
    role: str
    offset: int
    measures: Mapping[str, Figure]
    examples: tuple[Example, ...]


class CurvePoint(NamedTuple):
    """BLEU of the greedy translations after the first heads of an order were taken away.

    Args:
        removed: the number of heads that were removed.
        bleu: the BLEU without them.
    """

    removed: Count
    bleu: Figure


@dataclass(frozen=True)
class Curve:
    """BLEU as more and more heads are taken away, the least important first.

    Args:
        order: all heads, the least important first.
        points: BLEU at some numbers of heads, from none to all.
    """

    order: tuple[Head, ...]
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True)
class HeadReport(Report):
    """All heads of one model.

    Args:
        bleu_sentences: the number of pairs that were translated, for BLEU and the curves.
        loss: nats for each piece with all heads.
        bleu: the BLEU with all heads, greedy.
        heads: the figures of each head, by kind, layer and number.
        curves: the curve of each measure of importance, which gave the order.
    """

    bleu_sentences: Count
    loss: Figure
    bleu: Figure
    heads: tuple[HeadFigures, ...]
    curves: Mapping[str, Curve]

    def head(self, place: Head) -> HeadFigures:
        """Return the figures of one head."""
        return next(figures for figures in self.heads if figures.place == place)


def to_json(report: HeadReport) -> str:
    """Format the text of `heads.json`."""
    values = {"format": FORMAT, **stored.to_json(report)}
    lines = json.dumps(values, ensure_ascii=False).replace('{"head": ', '\n{"head": ')
    return lines.replace('"curves": ', '\n"curves": ') + "\n"


def read(folder: Path, config: TransformerConfig) -> HeadReport | None:
    """Read the report of a checkpoint folder; None where there is none.

    Raises:
        CheckpointError: if it cannot be read, or belongs to another model.
    """
    expected = all_heads(config)

    def require(report: HeadReport) -> None:
        _require_complete(report)
        orders = [sorted(curve.order) for curve in report.curves.values()]
        if [figures.place for figures in report.heads] != expected or any(
            order != sorted(expected) for order in orders
        ):
            raise CheckpointError(
                f"{folder / FILE} does not list the {len(expected)} heads of this model: {AGAIN}"
            )

    return stored.read_report(folder / FILE, HeadReport, FORMAT, require, COMMAND, MOST_BYTES)


def _require_complete(report: HeadReport) -> None:
    """Raise ValueError unless each head has its measures, and each curve goes to its end."""
    for figures in report.heads:
        if figures.measures.keys() != measures_of(figures.place.kind) | IMPORTANCE.keys():
            raise ValueError("a head has other measures")
    for curve in report.curves.values():
        removed = [point.removed for point in curve.points]
        if (min(removed), max(removed)) != (0, len(curve.order)):
            raise ValueError("a curve does not go from no head to all")
