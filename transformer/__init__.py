"""The Transformer of "Attention Is All You Need", with every head's attention in reach.

from transformer import Translator

translator = Translator.load()
translator.translate("A man rides a horse.").text
trace = translator.trace("A man rides a horse.")
trace.cross  # [layer, head, query, key]
"""

from transformer.config import TransformerConfig
from transformer.errors import (
    CheckpointError,
    ConfigError,
    HeadlightError,
    HookError,
    InputError,
)
from transformer.hooks import silence
from transformer.model import Transformer
from transformer.tokenizer import Piece, Tokenizer
from transformer.trace import KINDS, AttentionTrace, Kind
from transformer.translator import Candidate, Translation, Translator

__all__ = [
    "KINDS",
    "AttentionTrace",
    "Candidate",
    "CheckpointError",
    "ConfigError",
    "HeadlightError",
    "HookError",
    "InputError",
    "Kind",
    "Piece",
    "Tokenizer",
    "Transformer",
    "TransformerConfig",
    "Translation",
    "Translator",
    "silence",
]
