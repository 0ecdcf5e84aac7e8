"""The report of the heads that lies beside a checkpoint: read again only when the file changes."""

from __future__ import annotations

from collections.abc import Hashable

from transformer import Translator
from transformer.analysis.corpus import head_report
from transformer.analysis.corpus.head_report import HeadReport
from viz.app.cache.memory import memo, state_of_file


def stored_report(translator: Translator) -> HeadReport | None:
    """What `head_report.read` gives; None where nothing was measured.

    Raises:
        CheckpointError: if it cannot be read, or belongs to another model.
    """

    def read() -> HeadReport | None:
        return head_report.read(translator.folder, translator.model.config)

    state = state_of_report(translator)
    return read() if state is None else memo(state, read)


def state_of_report(translator: Translator) -> Hashable | None:
    """Names what the file holds, which a command may write anew; None where it cannot be said."""
    path = translator.folder / head_report.FILE
    if (state := state_of_file(path)) is None:
        return None
    return "head report", str(path), translator.checksum, state
