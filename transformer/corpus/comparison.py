"""Two systems on the same lines: head by head, sentence by sentence, and by BLEU and chrF2."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sacrebleu import BLEU, CHRF
from sacrebleu.significance import PairedTest

from transformer.analysis.stored import Figure
from transformer.corpus.measured import MeasuredLines
from transformer.corpus.removal import LinesWithout
from transformer.corpus.resampling import RESAMPLES, mean_interval, resampled_weights
from transformer.errors import InputError


def common_rows(first: MeasuredLines, second: MeasuredLines) -> tuple[list[int], list[int]]:
    """Return the rows of the lines that both have, by number and text."""
    rows = {(pair.number, pair.source): row for row, pair in enumerate(second.pairs)}
    both = [
        (row, rows[pair.number, pair.source])
        for row, pair in enumerate(first.pairs)
        if (pair.number, pair.source) in rows
    ]
    if not both:
        raise InputError("The two have no line in common: measure the same lines with both models.")
    return [row for row, _ in both], [row for _, row in both]


def compared_heads(first: MeasuredLines, second: MeasuredLines, name: str) -> pd.DataFrame:
    """Compare a measure of every head, second less first, over the common lines, largest first."""
    if first.heads != second.heads:
        raise InputError(
            f"The models have {len(first.heads)} and {len(second.heads)} heads in other places: "
            f"their heads cannot be paired. Compare their sentences."
        )
    if name not in first.head_values or name not in second.head_values:
        raise InputError(f"“{name}” was not measured for both models: measure it first.")
    rows = common_rows(first, second)
    weights = resampled_weights(len(rows[0]), seed=0)
    values = [side.head_values[name][own].astype(np.float64)
              for side, own in zip((first, second), rows, strict=True)]  # fmt: skip
    table = []
    for column, place in enumerate(first.heads):
        counts = first.counts(name, place.kind)[rows[0]]
        before, after = (side[:, column] for side in values)
        if np.isnan(before).any() or np.isnan(after).any():
            continue
        means = [float((side * counts).sum() / counts.sum()) for side in (before, after)]
        interval = mean_interval(after - before, weights, counts)
        table.append((place.kind, place.layer + 1, place.head + 1, *means, *map(float, interval)))
    columns = ["kind", "layer", "head", "first", "second", "difference", "low", "high"]
    frame = pd.DataFrame(table, columns=columns)
    return frame.sort_values(
        "difference", key=abs, ascending=False, kind="stable", ignore_index=True
    )


def compared_sentences(first: MeasuredLines, second: MeasuredLines) -> pd.DataFrame:
    """Compare the translations of the common lines, the least alike (chrF, 0 to 100) first."""
    rows = common_rows(first, second)
    metric = CHRF()
    table = []
    for row, second_row in zip(*rows, strict=True):
        pairs = first.pairs[row], second.pairs[second_row]
        alike = metric.sentence_score(pairs[1].target, [pairs[0].target]).score
        growth = {
            name: second.sentence_values[name][second_row] - first.sentence_values[name][row]
            for name in first.sentence_values
        }
        table.append(
            {
                "line": pairs[0].number,
                "source": pairs[0].source,
                "first": pairs[0].target,
                "second": pairs[1].target,
                "alike": alike,
                **growth,
            }
        )
    frame = pd.DataFrame(table).dropna(axis="columns", how="all")
    return frame.sort_values("alike", kind="stable").reset_index(drop=True)


class QualityChange(NamedTuple):
    """A score of two systems on the same lines."""

    before: Figure  # of the first system, with its interval
    after: Figure  # of the second one
    p: float  # of the hypothesis that both are as good, by paired bootstrap


def quality_without(lines: MeasuredLines, without: LinesWithout) -> Mapping[str, QualityChange]:
    """Compare the translations of lines that have a reference, before and without some heads."""
    rows = [row for row, pair in enumerate(lines.pairs) if pair.reference]
    return quality_changes(
        [lines.pairs[row].target for row in rows],
        [without.translations[row] for row in rows],
        [lines.pairs[row].reference for row in rows],
    )


def quality_changes(
    before: Sequence[str], after: Sequence[str], references: Sequence[str]
) -> Mapping[str, QualityChange]:
    """Compute BLEU and chrF2 of both, by their names, with paired bootstrap (Koehn 2004)."""
    texts = [list(references)]
    systems: list[tuple[str, Sequence[str]]] = [("before", before), ("after", after)]
    metrics = {"BLEU": BLEU(references=texts), "chrF2": CHRF(references=texts)}
    _, scores = PairedTest(systems, metrics, texts, test_type="bs", n_samples=RESAMPLES)()
    changes = {}
    for name in metrics:
        results: Any = scores[name]
        old, new = (Figure(s.score, s.mean - s.ci, s.mean + s.ci) for s in results)
        changes[name] = QualityChange(old, new, float(results[1].p_value))
    return changes
