"""Minimal pairs as they were patched in a model, stored beside it."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from transformer.analysis.heads.head import Head
from transformer.analysis.stored import Report, read_report
from transformer.circuits.pairs import MeasuredPairs, MinimalPair, PatchedPairs, all_sites
from transformer.translator import Translator

FILE = "pairs.json"
Nats = Annotated[float, -1e4, 1e4]


@dataclass(frozen=True)
class PairsReport(Report):
    """Pairs, and the log-odds that they lose as in `PatchedPairs`; None stands for NaN."""

    FORMAT, FILE, COMMAND = 1, FILE, "python -m benchmarks circuits --store"

    pairs: tuple[MinimalPair, ...]
    whole: tuple[Nats, ...]
    lost: tuple[tuple[Nats | None, ...], ...]
    control: tuple[tuple[Nats | None, ...], ...]


def read(translator: Translator) -> MeasuredPairs | None:
    """Read the pairs beside a model; None where there are none."""
    sites = all_sites(translator.model.config)
    required = [isinstance(site, Head) or site.positions in ("</s>", "last") for site in sites]

    def require(report: PairsReport) -> None:
        absent, same = (np.isnan(np.array(x, float)) for x in (report.lost, report.control))
        shape = len(report.pairs), len(sites)
        if not 2 <= len(report.whole) == shape[0] or absent.shape != shape:
            raise ValueError("other pairs, or other sites")
        if not np.array_equal(absent, same) or absent[:, required].any():
            raise ValueError("a number is missing")

    if (report := read_report(translator.folder, PairsReport, require)) is None:
        return None
    lost, control, whole = (np.array(x, float) for x in (report.lost, report.control, report.whole))
    return MeasuredPairs(report.pairs, PatchedPairs(sites, lost, control, whole), ())
