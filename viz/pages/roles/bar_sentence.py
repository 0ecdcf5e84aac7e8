"""The sentence in the bar as every view of the page takes it."""

from __future__ import annotations

from typing import NamedTuple

from transformer import AttentionTrace, Translation, Translator
from viz.app import sentence_bar


class BarSentence(NamedTuple):
    """What the bar holds.

    Args:
        translator: that made the translation.
        translation: of the sentence.
        trace: of the translation.
    """

    translator: Translator
    translation: Translation
    trace: AttentionTrace


def bar_sentence() -> BarSentence | None:
    """The sentence in the bar; None where the bar has said why there is none."""
    if (trace := sentence_bar.trace()) is None:
        return None
    found = sentence_bar.translated()
    assert found is not None  # there is a trace
    return BarSentence(*found, trace)
