"""Two systems on the same lines: head by head, sentence by sentence, and by BLEU and chrF2."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sacrebleu import BLEU, CHRF
from sacrebleu.significance import PairedTest

from transformer.analysis.stored import Figure
from transformer.corpus.measured import MeasuredLines
from transformer.corpus.removal import LinesWithout
from transformer.corpus.resampling import RESAMPLES


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
