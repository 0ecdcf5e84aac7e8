"""What heads that are taken away change on the sentence in the bar: computed once for everybody."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from transformer import AttentionTrace, Translation, Translator
from transformer.analysis.corpus.head_report import MEANS_FILE
from transformer.analysis.heads.effect import Effect, effect, patched
from transformer.decoding.settings import SearchSettings
from viz.app.cache import cached_results
from viz.app.cache.memory import memo, state_of_file
from viz.pages.roles.removal.changes import Change, format_changes, removal_of


def effect_of(
    translator: Translator,
    translation: Translation,
    trace: AttentionTrace,
    donor: AttentionTrace | None,
    changes: Sequence[Change],
    settings: SearchSettings,
) -> Effect:
    """The sentence before and after, or what is remembered of it.

    Args:
        translation: the one in the bar.
        trace: of it.
        donor: the trace of the second sentence, where there is one.
        changes: those that fit both sentences.
        settings: of the search for the new translation.

    Raises:
        InputError: if the model cannot take a head away so.
    """
    if not changes:
        return Effect(trace, trace, translation)
    patches = any(change.how in ("z", "weights") for change in changes)
    means = translator.folder / MEANS_FILE  # which a command may write anew
    key = (
        "heads taken away",
        cached_results.identity(translator),
        state_of_file(means) if any(change.how == "mean" for change in changes) else None,
        cached_results.trace_identity(trace),
        cached_results.trace_identity(donor) if donor and patches else None,
        settings,
        format_changes(changes),
    )

    def search() -> tuple[AttentionTrace, Translation]:
        found = _computed(translator, trace, donor, changes, settings)
        return found.after, found.translation

    return Effect(trace, *memo(key, search))


def _computed(
    translator: Translator,
    trace: AttentionTrace,
    donor: AttentionTrace | None,
    changes: Sequence[Change],
    settings: SearchSettings,
) -> Effect:
    patches = [change.head for change in changes if change.how == "z"]
    around: AbstractContextManager[None] = nullcontext()
    if patches:
        assert donor is not None  # the changes fit
        around = patched(translator.model, donor, patches)
    removals = [removal_of(change, trace, donor) for change in changes if change.how != "z"]
    with around:
        return effect(
            translator,
            trace,
            removals,
            should_stop=cached_results.SearchBudget(),
            **settings.arguments,
        )
