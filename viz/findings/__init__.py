"""Findings: one to three plain sentences on what is worth seeing of a sentence, each measured."""

from viz.findings.finding import Claim, Finding
from viz.findings.pages import PAGES, findings

__all__ = ["PAGES", "Claim", "Finding", "findings"]
