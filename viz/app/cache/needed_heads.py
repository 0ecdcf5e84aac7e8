"""The heads that a sentence needs most, computed once for all users."""

from transformer import AttentionTrace, Translator
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal_order import LENGTH, removal_order
from viz.app.cache.cached_results import identity, trace_identity
from viz.app.cache.memory import memo
from viz.app.cache.progress import progress_bar


def needed_heads(translator: Translator, trace: AttentionTrace, length: int = LENGTH) -> list[Head]:
    """Return the heads in the order in which the sentence needs them; see `removal_order`.

    A shorter order takes less time, and a longer one begins with it.
    """

    def compute() -> list[Head]:
        with progress_bar("Removing one head after another") as report:
            return removal_order(translator.model, trace, length=length, progress=report)

    key = ("removal order", identity(translator), trace_identity(trace), length)
    order: list[Head] = memo(key, compute)
    return order
