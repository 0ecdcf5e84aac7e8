"""Faithfulness of each lens on a corpus, as it is stored beside a checkpoint."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from transformer.analysis.stored import Figure, Report
from transformer.files import documents

FILE = "faithfulness.json"
COMMAND = "headlight evaluate faithfulness"
CHANGES = ("uniform", "permuted")  # weights that were put in the place of the model's own


@dataclass(frozen=True)
class Curves:
    """The fall of log P of a written piece, in nats, one figure for each fraction."""

    comprehensiveness: tuple[Figure, ...]  # the fall with the first words erased
    sufficiency: tuple[Figure, ...]  # the fall with all others erased


@dataclass(frozen=True)
class LensFigures(Curves):
    """One lens: its curves, and how far it agrees with what erasing each single word says."""

    kendall: Figure  # τ-b, mean over the pieces; 0 where all words are alike
    spearman: Figure  # ρ, likewise


@dataclass(frozen=True)
class FaithfulnessReport(Report):
    """All lenses on one corpus; sentences with fewer than two words are left out."""

    FORMAT, FILE, COMMAND = 1, FILE, COMMAND

    forced: bool  # whether the references were written, and not the model's own translations
    fractions: tuple[float, ...]  # the shares of the source words that were erased or kept
    lenses: Mapping[str, LensFigures]  # the figures of each lens, by `lenses.NAMES`
    random: Curves  # the curves of words in random order
    attention: Mapping[str, Mapping[str, Figure]]  # change of log P in nats, by kind and `CHANGES`


def to_json(report: FaithfulnessReport) -> str:
    """Format the text of `faithfulness.json`."""
    return json.dumps({"format": report.FORMAT, **documents.to_json(report)}, indent=1) + "\n"
