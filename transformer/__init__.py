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
    from transformer.config import TransformerConfig as TransformerConfig
    from transformer.decoding.settings import SearchSettings as SearchSettings
    from transformer.errors import CheckpointError as CheckpointError
    from transformer.errors import ConfigError as ConfigError
    from transformer.errors import HeadlightError as HeadlightError
    from transformer.errors import HookError as HookError
    from transformer.errors import InputError as InputError
    from transformer.hooks import silence as silence
    from transformer.kinds import KINDS as KINDS
    from transformer.kinds import Kind as Kind
    from transformer.model import Transformer as Transformer
    from transformer.text.languages import Languages as Languages
    from transformer.text.tokenizer import Piece as Piece
    from transformer.text.tokenizer import Tokenizer as Tokenizer
    from transformer.trace import AttentionTrace as AttentionTrace
    from transformer.translation.result import Candidate as Candidate
    from transformer.translation.result import Partial as Partial
    from transformer.translation.result import ScoredWord as ScoredWord
    from transformer.translation.result import Translation as Translation
    from transformer.translation.score import Choice as Choice
    from transformer.translation.score import Scored as Scored
    from transformer.translator import Translator as Translator

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
__all__ = sorted(_MODULE_OF)

if not TYPE_CHECKING:  # a type checker would accept any name at all

    def __getattr__(name: str) -> Any:
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value  # this function is not called for it again
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
