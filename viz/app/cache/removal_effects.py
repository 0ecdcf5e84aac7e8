"""Effects of removed heads on the translation in the bar, computed once for all users."""

from collections.abc import Sequence

from transformer import AttentionTrace, Translation, Translator
from transformer.analysis.heads.effect import Effect, effect
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.means import FILE as MEANS_FILE
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_order import LENGTH, removal_order
from transformer.analysis.heads.removal_text import format_removals
from transformer.decoding.settings import SearchSettings
from viz.app.cache import cached_results
from viz.app.cache.memory import memo, state_of_file
from viz.app.cache.progress import progress_bar


def effect_of(
    translator: Translator,
    translation: Translation,
    trace: AttentionTrace,
    donor: AttentionTrace | None,
    removals: Sequence[Removal],
    settings: SearchSettings,
) -> Effect:
    """Compute the effect on the translation in the bar once for all users.

    The removals fit its trace and that of the second sentence, the donor.
    """
    if not removals:
        return Effect(trace, trace, translation)
    replacements = {removal.how for removal in removals}
    means = translator.folder / MEANS_FILE  # which a command may write anew
    key = (
        "heads taken away",
        cached_results.identity(translator),
        state_of_file(means) if "mean" in replacements else None,
        cached_results.trace_identity(trace),
        cached_results.trace_identity(donor) if donor and replacements & {"z", "weights"} else None,
        settings,
        format_removals(removals),
    )

    def search() -> tuple[AttentionTrace, Translation]:
        computed = effect(
            translator,
            trace,
            removals,
            donor,
            should_stop=cached_results.SearchBudget(),
            **settings.arguments,
        )
        return computed.after, computed.translation

    return Effect(trace, *memo(key, search))


def needed_heads(translator: Translator, trace: AttentionTrace, length: int = LENGTH) -> list[Head]:
    """Return the heads in the order in which the sentence needs them; see `removal_order`.

    A shorter order takes less time, and a longer one begins with it.
    """

    def compute() -> list[Head]:
        with progress_bar("Removing one head after another") as report:
            return removal_order(translator.model, trace, length=length, progress=report)

    key = (
        "removal order",
        cached_results.identity(translator),
        cached_results.trace_identity(trace),
        length,
    )
    order: list[Head] = memo(key, compute)
    return order
