"""BLEU and chrF2 of two systems on the same lines, by sacreBLEU."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sacrebleu import BLEU, CHRF
from sacrebleu.significance import PairedTest

from transformer.analysis.corpus.stored import Figure

RESAMPLES = 1_000


class QualityChange(NamedTuple):
    """A score of two systems on the same lines."""

    before: Figure  # of the first system, with its interval
    after: Figure  # of the second one
    p: float  # of the hypothesis that both are as good, by paired bootstrap


def quality_changes(
    before: Sequence[str], after: Sequence[str], references: Sequence[str]
) -> Mapping[str, QualityChange]:
    """Compute BLEU and chrF2 of both, by their names, with paired bootstrap (Koehn 2004)."""
    texts = [list(references)]
    systems: list[tuple[str, Sequence[str]]] = [("before", before), ("after", after)]
    metrics = {"BLEU": BLEU(references=texts), "chrF2": CHRF(references=texts)}
    _, scores = PairedTest(systems, metrics, texts, test_type="bs", n_samples=RESAMPLES)()
    return {name: _change(*scores[name]) for name in metrics}


def _change(first: Any, second: Any) -> QualityChange:
    """Convert the results of both systems, each with the half width of its interval."""
    before, after = (
        Figure(result.score, result.mean - result.ci, result.mean + result.ci)
        for result in (first, second)
    )
    return QualityChange(before, after, float(second.p_value))
