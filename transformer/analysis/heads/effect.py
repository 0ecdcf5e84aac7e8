"""What changes when heads are taken away, or take what they do on another sentence.

What changed when a head was removed, never why the model decided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Unpack

import torch
from torch import Tensor

from transformer.analysis.heads.head import Head, require_heads
from transformer.analysis.heads.removal import (
    POSITION_POINT,
    Removal,
    add,
    first_row,
    installed,
    note_position,
    painted,
    removed,
)
from transformer.analysis.teacher_forcing import forced_pair, values_at
from transformer.errors import InputError
from transformer.hooks import Hook
from transformer.kinds import Kind, attention_name
from transformer.model import Transformer
from transformer.model_trace import trace as trace_pass
from transformer.search_settings import SearchArguments
from transformer.trace import AttentionTrace, Weights
from transformer.translation import Translation
from transformer.translator import Translator

Patched = Literal["z", "pattern"]


@dataclass(frozen=True, eq=False)
class Effect:
    """One sentence before and after.

    Args:
        before: the trace as it was.
        after: that of the same old translation, with the heads taken away.
        translation: what the model writes now.
    """

    before: AttentionTrace
    after: AttentionTrace
    translation: Translation

    @property
    def changes(self) -> Weights:
        """`[target]`: how much log P of each piece of the old translation grew, in nats."""
        return self.after.log_probs - self.before.log_probs

    def difference(self, kind: Kind) -> Weights:
        """Weights after less weights before, `[layer, head, query, key]`, signed."""
        return self.after.weights(kind) - self.before.weights(kind)


def effect(
    translator: Translator,
    trace: AttentionTrace,
    removals: Sequence[Removal],
    *,
    means: Mapping[Kind, Tensor] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    **search: Unpack[SearchArguments],
) -> Effect:
    """Translate and trace a sentence once more with these heads taken away.

    Args:
        trace: of the sentence, with nothing taken away.
        means: as `removed` takes them.
        should_stop: as `Translator.translate` takes it.
        search: arguments of the new search, as `Translator.translate` takes them.

    Raises:
        InputError: as `removed` does, or if a pattern is not of this sentence's shape.
    """
    for removal in removals:
        if removal.pattern is not None:
            shape = (len(removal.pattern), len(removal.pattern[0]))
            _require_shape(shape, trace, removal.kind, "The painted pattern")
    with removed(translator, removals, means):
        return _repeated(translator, trace, should_stop, search)


def patch_effect(
    translator: Translator,
    trace: AttentionTrace,
    donor: AttentionTrace,
    heads: Sequence[Head],
    what: Patched,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    **search: Unpack[SearchArguments],
) -> Effect:
    """Translate and trace a sentence once more with heads patched from another one.

    Raises:
        InputError: as `patched` does, or if the two sentences differ in shape.
    """
    for head in heads:
        shape = donor.weights(head.kind).shape[2:]
        _require_shape(shape, trace, head.kind, "The second sentence")
    with patched(translator.model, donor, heads, what):
        return _repeated(translator, trace, should_stop, search)


@contextmanager
def patched(
    model: Transformer, donor: AttentionTrace, heads: Sequence[Head], what: Patched
) -> Iterator[None]:
    """Give heads the weights, or the output, that they have on another sentence.

    Rows beyond those of the donor stay as they are.

    Args:
        donor: the trace of the other sentence.
        what: "z", the output `[query, d_v]`, or "pattern", the weights `[query, key]`.

    Raises:
        InputError: if there is no such head, the donor does not fit the model, or, inside the
            block, a sentence of another shape.
    """
    require_heads(model, heads)
    if what == "pattern":
        removals = [
            painted(head, donor.weights(head.kind)[head.layer, head.head]) for head in heads
        ]
        with removed(model, removals):
            yield
        return
    if what != "z":
        raise InputError("A patch takes over z or pattern: choose one of them.")
    with installed(model, _patches(model, donor, heads)):
        yield


@torch.no_grad()
def _patches(model: Transformer, donor: AttentionTrace, heads: Sequence[Head]) -> dict[str, Hook]:
    places: dict[tuple[Kind, int], list[int]] = defaultdict(list)
    for head in heads:
        places[head.kind, head.layer].append(head.head)
    names = {f"{attention_name(*place)}.hook_z": place for place in places}
    _, cache = values_at(model, forced_pair(model, donor), names)
    hooks: dict[str, Hook] = {}
    for name, (kind, layer) in names.items():
        chosen = places[kind, layer]
        add(hooks, name, _set_rows(kind, chosen, cache[name][0, chosen]))
    if any(head.kind != "encoder_self" for head in heads):
        add(hooks, POSITION_POINT, note_position)
    return hooks


def _set_rows(kind: Kind, heads: Sequence[int], values: Tensor) -> Hook:
    """For `hook_z`: rows of `[head, query, d_v]`, as far as there are any."""

    def hook(z: Tensor, _name: str) -> Tensor:
        if kind == "encoder_self" and z.size(2) != values.size(1):
            raise InputError(
                f"The second sentence has {values.size(1)} pieces and this one {z.size(2)}: "
                f"choose one of the same length."
            )
        first = first_row(kind)
        rows = values[:, first : first + z.size(2)].to(z)
        z = z.clone()
        z[:, heads, : rows.size(1)] = rows
        return z

    return hook


def _repeated(
    translator: Translator,
    before: AttentionTrace,
    should_stop: Callable[[], bool],
    search: SearchArguments,
) -> Effect:
    """The sentence once more, with the hooks of the context.

    Raises:
        InputError: if the trace does not fit the model.
    """
    forced_pair(translator.model, before)
    after = trace_pass(
        translator.model,
        before.source,
        before.target,
        list(before.source_pieces),
        list(before.target_pieces),
        languages=before.languages,
    )
    translation = translator.translate(before.source, should_stop=should_stop, **search)
    return Effect(before, after, translation)


def _require_shape(shape: Sequence[int], trace: AttentionTrace, kind: Kind, what: str) -> None:
    wanted = trace.weights(kind).shape[2:]
    if tuple(shape) != wanted:
        raise InputError(
            f"{what} has {shape[0]} × {shape[1]} weights in {kind}, and this sentence "
            f"{wanted[0]} × {wanted[1]}: they must be of the same shape."
        )
