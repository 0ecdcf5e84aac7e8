"""Statements of the pages about a sentence, computed once more."""

from benchmarks.sentences.report import SENTENCES, Report, add_arguments, check

__all__ = ["SENTENCES", "Report", "add_arguments", "check"]
