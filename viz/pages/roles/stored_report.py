"""The report of the heads beside a checkpoint, cached until its file changes."""

from __future__ import annotations

from collections.abc import Hashable

from transformer import Translator
from transformer.analysis.corpus import head_report
from transformer.analysis.corpus.head_report import HeadReport
from viz.app.cache.memory import memo, state_of_file


def stored_report(translator: Translator) -> HeadReport | None:
    """Read the report of the heads, or return None where nothing was measured.

    Raises:
        CheckpointError: if the file cannot be read, or belongs to another model.
    """

    def read() -> HeadReport | None:
        return head_report.read(translator.folder, translator.model.config)

    state = report_state(translator)
    return read() if state is None else memo(state, read)


def report_state(translator: Translator) -> Hashable | None:
    """Return a cache key that changes with the report's file, or None without a readable file."""
    path = translator.folder / head_report.FILE
    if (state := state_of_file(path)) is None:
        return None
    return "head report", str(path), translator.checksum, state
