"""Measurements of every head on a corpus, as they are stored beside a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from transformer.analysis.corpus.corpus_roles import measures_of
from transformer.analysis.corpus.stored import (
    Figure,
    count,
    figure,
    number,
    read_json,
    require_same_weights,
    rounded,
    text,
    whole,
)
from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.importance import IMPORTANCE
from transformer.analysis.heads.means import AGAIN, COMMAND
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError, quoted
from transformer.files.reading import MIB
from transformer.kinds import KINDS

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

    place: Head
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

    removed: int
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
class HeadReport:
    """All heads of one model.

    Args:
        weights: SHA-256 of the weights that were measured.
        sentences: pairs that were measured.
        left_out: pairs that were empty or too long.
        bleu_sentences: the number of pairs that were translated, for BLEU and the curves.
        loss: nats for each piece with all heads.
        bleu: the BLEU with all heads, greedy.
        heads: the figures of each head, by kind, layer and number.
        curves: the curve of each measure of importance, which gave the order.
    """

    weights: str
    sentences: int
    left_out: int
    bleu_sentences: int
    loss: Figure
    bleu: Figure
    heads: tuple[HeadFigures, ...]
    curves: Mapping[str, Curve]

    def head(self, place: Head) -> HeadFigures:
        """Return the figures of one head."""
        return next(figures for figures in self.heads if figures.place == place)


def to_json(report: HeadReport) -> str:
    """Format the text of `heads.json`."""
    values = {
        "format": FORMAT,
        "weights": report.weights,
        "sentences": report.sentences,
        "left_out": report.left_out,
        "bleu_sentences": report.bleu_sentences,
        "loss": rounded(report.loss),
        "bleu": rounded(report.bleu),
        "heads": [
            {
                "head": list(figures.place),
                "role": figures.role,
                "offset": figures.offset,
                "measures": {name: rounded(f) for name, f in figures.measures.items()},
                "examples": [[e.source, e.target, *rounded([e.score])] for e in figures.examples],
            }
            for figures in report.heads
        ],
        "curves": {
            name: {
                "order": [list(place) for place in curve.order],
                "points": [[point.removed, rounded(point.bleu)] for point in curve.points],
            }
            for name, curve in report.curves.items()
        },
    }
    lines = json.dumps(values, ensure_ascii=False).replace('{"head": ', '\n{"head": ')
    return lines.replace('"curves": ', '\n"curves": ') + "\n"


def read(folder: Path, config: TransformerConfig) -> HeadReport | None:
    """Read the report of a checkpoint folder; None where there is none.

    Raises:
        CheckpointError: if it cannot be read, or belongs to another model.
    """
    report = read_json(folder / FILE, MOST_BYTES, _report, COMMAND)
    if report is None:
        return None
    expected = all_heads(config)
    orders = [sorted(curve.order) for curve in report.curves.values()]
    if [figures.place for figures in report.heads] != expected or any(
        order != sorted(expected) for order in orders
    ):
        raise CheckpointError(
            f"{folder / FILE} does not list the {len(expected)} heads of this model: {AGAIN}"
        )
    require_same_weights(folder / FILE, report.weights, COMMAND)
    return report


def _report(values: Any) -> HeadReport:
    """Raise ValueError, TypeError or KeyError unless these are the values of a report."""
    if values["format"] != FORMAT:
        raise ValueError(f"format {quoted(values['format'])}")
    return HeadReport(
        weights=text(values["weights"]),
        sentences=count(values["sentences"]),
        left_out=count(values["left_out"]),
        bleu_sentences=count(values["bleu_sentences"]),
        loss=figure(values["loss"]),
        bleu=figure(values["bleu"]),
        heads=tuple(map(_head_figures, values["heads"])),
        curves={text(name): _curve(curve) for name, curve in values["curves"].items()},
    )


def _curve(values: Any) -> Curve:
    order = tuple(map(_place, values["order"]))
    points = tuple(CurvePoint(count(taken), figure(bleu)) for taken, bleu in values["points"])
    removed = [point.removed for point in points]
    if (min(removed), max(removed)) != (0, len(order)):
        raise ValueError("a curve does not go from no head to all")
    return Curve(order, points)


def _head_figures(values: Any) -> HeadFigures:
    place = _place(values["head"])
    measures = {text(name): figure(value) for name, value in values["measures"].items()}
    if measures.keys() != measures_of(place.kind) | IMPORTANCE.keys():
        raise ValueError("a head has other measures")
    return HeadFigures(
        place=place,
        role=text(values["role"]),
        offset=whole(values["offset"]),
        measures=measures,
        examples=tuple(
            Example(text(source), text(target), number(score))
            for source, target, score in values["examples"]
        ),
    )


def _place(values: Any) -> Head:
    kind, layer, head = values
    return Head(KINDS[KINDS.index(kind)], count(layer), count(head))
