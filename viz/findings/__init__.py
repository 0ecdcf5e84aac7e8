"""Findings: one to three plain sentences on notable results of a sentence, each measured."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from transformer import AttentionTrace, Translator
from viz.findings import passes, weights
from viz.findings.weights import Finding

__all__ = ["MOST", "PAGES", "Finding", "FromModel", "ranked"]

MOST = 2  # largest number of findings that are shown of a page

FromModel: TypeAlias = Callable[[Translator, AttentionTrace], Finding | None]

FROM_WEIGHTS = (weights.looked_at, weights.neighbours, weights.sinks, weights.most_confident)
FROM_MODEL: Mapping[str, Sequence[FromModel]] = {
    "translate": (passes.hardly_used,),
    "roles": (passes.costliest_head,),
    "inside": (passes.scaled_score, passes.split_score, passes.written_word),
    "masks": (passes.unmasked,),
    "positions": (passes.without_positions,),
    "architecture": (passes.shares_of_parameters,),
}
"""By the path of the page; “heads” has those of the weights."""

PAGES = ("heads", *FROM_MODEL)  # paths of the pages that have findings on a sentence


def ranked(page: str, trace: AttentionTrace, translator: Translator | None = None) -> list[Finding]:
    """Find what is worth seeing on a page, strongest first; without a model, of weights alone."""
    results: list[Finding | None] = []
    if page == "heads" and weights.are_shares(trace):
        results += [find(trace) for find in FROM_WEIGHTS]
    if translator is not None:
        results += [find(translator, trace) for find in FROM_MODEL.get(page, ())]
    present = [finding for finding in results if finding is not None]
    return sorted(present, key=lambda finding: -finding.strength)
