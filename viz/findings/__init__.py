"""Findings: one to three plain sentences on notable results of a sentence, each measured."""

from viz.findings.finding import Claim, Finding
from viz.findings.pages import MOST, PAGES, findings, ranked

__all__ = ["MOST", "PAGES", "Claim", "Finding", "findings", "ranked"]
