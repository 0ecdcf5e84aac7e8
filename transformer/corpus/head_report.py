"""Measurements of every head on a corpus, as they are stored beside a checkpoint."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.importance import IMPORTANCE
from transformer.analysis.heads.means import AGAIN, COMMAND
from transformer.analysis.stored import Figure, Report, read_report
from transformer.config import TransformerConfig
from transformer.corpus.corpus_roles import measures_of
from transformer.errors import CheckpointError
from transformer.files import documents
from transformer.files.documents import Count

FILE = "heads.json"


class Example(NamedTuple):
    """A sentence on which a head does what its role says."""

    source: str  # the source sentence
    target: str  # the translation of the model
    score: float  # that of the head's role here; of its confidence without a role


@dataclass(frozen=True)
class HeadFigures:
    """One head."""

    place: Head = field(metadata={"key": "head"})  # the head
    role: str  # most frequent on the corpus; "" where nothing dominates
    offset: int  # most frequent offset of the largest weight, in tokens
    measures: Mapping[str, Figure]  # by `corpus_roles.MEASURES` and `IMPORTANCE`
    examples: tuple[Example, ...]  # highest scores of its role, or of its confidence


class CurvePoint(NamedTuple):
    """BLEU of the greedy translations after the first heads of an order were taken away."""

    removed: Count  # the number of heads that were removed
    bleu: Figure  # the BLEU without them


@dataclass(frozen=True)
class Curve:
    """BLEU as more and more heads are taken away, the least important first."""

    order: tuple[Head, ...]  # all heads, the least important first
    points: tuple[CurvePoint, ...]  # BLEU at some numbers of heads, from none to all


@dataclass(frozen=True)
class HeadReport(Report):
    """All heads of one model."""

    FORMAT, FILE, COMMAND = 2, FILE, COMMAND  # 1 counted “same word” by the letters of pieces

    bleu_sentences: Count  # the number of pairs that were translated, for BLEU and the curves
    loss: Figure  # nats for each piece with all heads
    bleu: Figure  # the BLEU with all heads, greedy
    heads: tuple[HeadFigures, ...]  # the figures of each head, by kind, layer and number
    curves: Mapping[str, Curve]  # the curve of each measure of importance, which gave the order

    def head(self, place: Head) -> HeadFigures:
        """Return the figures of one head."""
        return next(figures for figures in self.heads if figures.place == place)


def to_json(report: HeadReport) -> str:
    """Format the text of `heads.json`."""
    values = {"format": report.FORMAT, **documents.to_json(report)}
    lines = json.dumps(values, ensure_ascii=False).replace('{"head": ', '\n{"head": ')
    return lines.replace('"curves": ', '\n"curves": ') + "\n"


def read(folder: Path, config: TransformerConfig) -> HeadReport | None:
    """Read the report of a checkpoint folder; None where there is none."""
    expected = all_heads(config)

    def require(report: HeadReport) -> None:
        for figures in report.heads:
            if figures.measures.keys() != measures_of(figures.place.kind) | IMPORTANCE.keys():
                raise ValueError("a head has other measures")
        for curve in report.curves.values():
            removed = [point.removed for point in curve.points]
            if (min(removed), max(removed)) != (0, len(curve.order)):
                raise ValueError("a curve does not go from no head to all")
        orders = [sorted(curve.order) for curve in report.curves.values()]
        if [figures.place for figures in report.heads] != expected or any(
            order != sorted(expected) for order in orders
        ):
            raise CheckpointError(
                f"{folder / FILE} does not list the {len(expected)} heads of this model: {AGAIN}"
            )

    return read_report(folder, HeadReport, require)
