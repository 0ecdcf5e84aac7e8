"""What changes when heads are taken away, or take what they do on another sentence.

What changed when a head was removed, never why the model decided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Unpack

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
    removed,
)
from transformer.analysis.teacher_forcing import forced_pair, values_at
from transformer.decoding.settings import SearchArguments
from transformer.errors import InputError
from transformer.hooks import Hook
from transformer.kinds import Kind, attention_name
from transformer.model import Transformer
from transformer.trace import AttentionTrace
from transformer.traces.capture import capture
from transformer.traces.fields import Weights
from transformer.translation.result import Translation
from transformer.translator import Translator


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


def effect(
    translator: Translator,
    trace: AttentionTrace,
    removals: Sequence[Removal],
    *,
    should_stop: Callable[[], bool] = lambda: False,
    **search: Unpack[SearchArguments],
) -> Effect:
    """Translate and trace a sentence once more with these heads taken away.

    Args:
        trace: of the sentence, with nothing taken away.
        should_stop: as `Translator.translate` takes it.
        search: arguments of the new search, as `Translator.translate` takes them.

    Raises:
        InputError: as `removed` does, or if a pattern is not of this sentence's shape.
    """
    for removal in removals:
        _require_shape(removal, trace)
    with removed(translator, removals):
        forced_pair(translator.model, trace)  # refuses a trace that does not fit the model
        after = AttentionTrace.from_fields(
            capture(
                translator.model,
                trace.source,
                trace.target,
                list(trace.source_pieces),
                list(trace.target_pieces),
                languages=trace.languages,
            )
        )
        translation = translator.translate(trace.source, should_stop=should_stop, **search)
    return Effect(trace, after, translation)


@contextmanager
def patched(model: Transformer, donor: AttentionTrace, heads: Sequence[Head]) -> Iterator[None]:
    """Give heads the output z `[query, d_v]` that they have on another sentence.

    Rows beyond those of the donor stay as they are. Their weights are patched by `painted`.

    Args:
        donor: the trace of the other sentence.

    Raises:
        InputError: if there is no such head, the donor does not fit the model, or, inside the
            block, a head of the encoder reads a sentence of another length.
    """
    require_heads(model, heads)
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


def _require_shape(removal: Removal, trace: AttentionTrace) -> None:
    """Refuse a pattern of another shape than the sentence has."""
    if removal.pattern is None:
        return
    shape = len(removal.pattern), len(removal.pattern[0])
    wanted = trace.weights(removal.kind).shape[2:]
    if shape != wanted:
        raise InputError(
            f"The painted pattern has {shape[0]} × {shape[1]} weights in {removal.kind}, and this "
            f"sentence {wanted[0]} × {wanted[1]}: they must be of the same shape."
        )
