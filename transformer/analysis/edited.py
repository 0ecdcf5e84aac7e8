"""Translations by a model that hooks change."""

from collections.abc import Mapping
from typing import Any

from transformer.hooks import Hook
from transformer.trace import AttentionTrace
from transformer.translator import Translator


def edited_translation(
    translator: Translator, trace: AttentionTrace, edits: Mapping[str, Hook], **search: Any
) -> tuple[str, float]:
    """Translate the source of a trace under hooks; return text and log P."""
    with translator.model.hooks(edits):
        translation = translator.translate(trace.source, **search)
    return translation.text, translation.log_prob
