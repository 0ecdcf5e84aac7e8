"""The Transformer of "Attention Is All You Need", with access to every head's attention.

from transformer import Translator

translator = Translator.load()
translator.translate("A man rides a horse.").text
trace = translator.trace("A man rides a horse.")
trace.cross  # [layer, head, query, key]

Each name is loaded from its module when it is first used (PEP 562), so that constants such as
`KINDS` and the modules that need nothing else load without torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from transformer.cli import startup

if TYPE_CHECKING:
    from transformer.config import TransformerConfig
    from transformer.decoding.settings import SearchSettings
    from transformer.errors import (
        CheckpointError,
        ConfigError,
        HeadlightError,
        HookError,
        InputError,
    )
    from transformer.hooks import silence
    from transformer.kinds import KINDS, Kind
    from transformer.model import Transformer
    from transformer.text.languages import Languages
    from transformer.text.tokenizer import Piece, Tokenizer
    from transformer.trace import AttentionTrace
    from transformer.translation.result import Candidate, Partial, ScoredWord, Translation
    from transformer.translation.score import Choice, Scored
    from transformer.translator import Translator

__all__ = [
    "KINDS",
    "AttentionTrace",
    "Candidate",
    "CheckpointError",
    "Choice",
    "ConfigError",
    "HeadlightError",
    "HookError",
    "InputError",
    "Kind",
    "Languages",
    "Partial",
    "Piece",
    "Scored",
    "ScoredWord",
    "SearchSettings",
    "Tokenizer",
    "Transformer",
    "TransformerConfig",
    "Translation",
    "Translator",
    "silence",
]

startup.begin_module()

_NAMES = {
    "config": ("TransformerConfig",),
    "errors": ("CheckpointError", "ConfigError", "HeadlightError", "HookError", "InputError"),
    "hooks": ("silence",),
    "kinds": ("KINDS", "Kind"),
    "model": ("Transformer",),
    "decoding.settings": ("SearchSettings",),
    "text.languages": ("Languages",),
    "text.tokenizer": ("Piece", "Tokenizer"),
    "trace": ("AttentionTrace",),
    "translation.result": ("Candidate", "Partial", "ScoredWord", "Translation"),
    "translation.score": ("Choice", "Scored"),
    "translator": ("Translator",),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:  # a type checker would accept any name at all

    def __getattr__(name: str) -> Any:
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value  # this function is not called for it again
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
