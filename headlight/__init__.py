"""See what every attention head of a Transformer looks at, on your own sentence.

import headlight

translator = headlight.Translator.load()
trace = translator.trace("A man rides a horse.")
headlight.explore(trace)  # in a notebook

Each name is loaded from its module when it is first used (PEP 562): `import headlight` alone loads
neither torch nor Streamlit.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer import KINDS, AttentionTrace, HeadlightError, Translation, Translator, silence
    from transformer.analysis import lenses
    from transformer.analysis.alignment import align
    from transformer.analysis.both_directions import align_both
    from transformer.analysis.heads.removal import Removal, removed
    from viz.notebook import explore, svg
    from viz.report import report

    from_arrays, from_huggingface = AttentionTrace.from_arrays, AttentionTrace.from_huggingface

__version__ = "0.1.0"

__all__ = [
    "Translator",
    "Translation",
    "AttentionTrace",
    "from_arrays",
    "from_huggingface",
    "explore",
    "report",
    "svg",
    "lenses",
    "align",
    "align_both",
    "Removal",
    "removed",
    "silence",
    "KINDS",
    "HeadlightError",
]

_MODULE_OF = {
    "lenses": "transformer.analysis.lenses",
    "align": "transformer.analysis.alignment",
    "align_both": "transformer.analysis.both_directions",
    "Removal": "transformer.analysis.heads.removal",
    "removed": "transformer.analysis.heads.removal",
    "explore": "viz.notebook",
    "report": "viz.report",
    "svg": "viz.notebook",
}

if not TYPE_CHECKING:  # a type checker would accept any name at all

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from headlight import packages

        module = _MODULE_OF.get(name, "transformer")
        try:
            with packages.named_if_hidden():
                owner = packages.load(module)
        except ModuleNotFoundError as error:
            extra = "notebook" if module == "viz.notebook" else ""
            raise ImportError(packages.missing(f"headlight.{name}", error.name, extra)) from error
        if name.startswith("from_"):
            owner = owner.AttentionTrace
        value = owner if name == "lenses" else getattr(owner, name)
        globals()[name] = value  # this function is not called for it again
        return value

    def __dir__() -> list[str]:
        return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
