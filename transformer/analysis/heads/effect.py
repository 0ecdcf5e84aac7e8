"""Effect of removed or patched heads on one sentence and its translation."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Unpack

from transformer.analysis.heads import head, means
from transformer.analysis.heads.removal import Removal, Rows, patched, removed
from transformer.analysis.teacher_forcing import forced_pair
from transformer.arrays import Singles
from transformer.decoding import settings
from transformer.errors import InputError
from transformer.trace import AttentionTrace
from transformer.translation import result
from transformer.translator import Translator


@dataclass(frozen=True, eq=False)
class Effect:
    """One sentence before and after."""

    before: AttentionTrace  # the trace as it was
    after: AttentionTrace  # the trace of the same old translation, with the heads removed
    translation: result.Translation  # the translation that the model writes now

    @property
    def changes(self) -> Singles:
        """The growth of log P of each piece of the old translation, `[target]`, in nats."""
        return self.after.log_probs - self.before.log_probs


def effect(
    translator: Translator,
    trace: AttentionTrace,
    removals: Sequence[Removal],
    donor: AttentionTrace | None = None,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    **search: Unpack[settings.SearchArguments],
) -> Effect:
    """Translate and trace a sentence once more, as `Translator.translate`, without these heads.

    `donor` is the trace of the second sentence, for the replacements "z" and "weights".
    """
    head.require_heads(translator.model, [removal.place for removal in removals])
    for removal in removals:
        require_fitting(removal, trace, donor)
    heads = [removal.place for removal in removals if removal.how == "z"]
    others: list[Removal] = []
    maps: dict[head.Head, Singles] = {}
    for removal in removals:
        place = removal.place
        if removal.how == "rows":
            maps[place] = painted_map(removal.rows, trace.weights(place.kind)[place[1:]])
        elif removal.how == "weights" and donor is not None:
            maps[place] = donor.weights(place.kind)[place[1:]]
        elif removal.how != "z":
            others.append(removal)
    patches: AbstractContextManager[None] = nullcontext()
    if donor is not None and heads:
        patches = patched(translator.model, donor, heads)
    with patches, removed(translator, others, maps=maps):
        forced_pair(translator.model, trace)  # refuses a trace that does not fit the model
        pieces = list(trace.source_pieces), list(trace.target_pieces)
        after = translator.trace_pieces(trace.source, trace.target, *pieces)
        after = replace(after, languages=trace.languages)
        translation = translator.translate(trace.source, should_stop=should_stop, **search)
    return Effect(trace, after, translation)


def fitting_removals(
    removals: Sequence[Removal],
    trace: AttentionTrace,
    donor: AttentionTrace | None,
    *,
    measured: bool,
) -> tuple[list[Removal], str]:
    """Return the removals that fit this sentence, and a message on the first other one, or ""."""
    fitting: list[Removal] = []
    problem = ""
    for removal in removals:
        try:
            require_fitting(removal, trace, donor)
            if removal.how == "mean" and not measured:
                raise InputError(
                    f"The mean output of {removal.place.title} over a corpus was not measured for "
                    f"this model: run {means.COMMAND}, or choose another way."
                )
            fitting.append(removal)
        except InputError as error:
            problem = problem or str(error)
    return fitting, problem


def require_fitting(removal: Removal, trace: AttentionTrace, donor: AttentionTrace | None) -> None:
    """Make sure that a removal fits the sentences."""
    name = removal.place.title
    rows, columns = trace.weights(removal.kind).shape[2:]
    if removal.how == "rows":
        shape = removal.shape
        if shape != (rows, columns):
            raise InputError(
                f"The painted map of {name} is {shape[0]} × {shape[1]}, and on this "
                f"sentence it is {rows} × {columns}: it is left out until you paint it again."
            )
    if removal.how in ("z", "weights"):
        if donor is None:
            raise InputError(
                f"{name} is patched from a second sentence, and there is none: type one."
            )
        other = donor.weights(removal.kind).shape[2:]
        if other != (rows, columns):
            raise InputError(
                f"The map of {name} is {other[0]} × {other[1]} on the second sentence and "
                f"{rows} × {columns} on this one: a patch needs as many pieces in both."
            )


def painted_map(rows: Rows, weights: Singles) -> Singles:
    """Paint some rows of a map `[query, key]`: each looks evenly at its keys."""
    weights = weights.copy()
    for row, keys in rows:
        weights[row] = 0
        weights[row, list(keys)] = 1 / len(keys)
    return weights
