"""The effect of removed heads on the translation in the bar, computed once for all users."""

from collections.abc import Sequence

from transformer import AttentionTrace, Translation, Translator
from transformer.analysis.heads.effect import Effect, effect
from transformer.analysis.heads.means import FILE as MEANS_FILE
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_text import format_removals
from transformer.decoding.settings import SearchSettings
from viz.app.cache import cached_results
from viz.app.cache.memory import memo, state_of_file


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
