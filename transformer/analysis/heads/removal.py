"""Removal of attention heads while the model runs, in a search as in a teacher-forced pass.

All of it is hooks of the current context: the model is never changed, and two people who remove
different heads of one model never meet.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor

from transformer import choices, translator
from transformer.analysis.heads.head import Head, require_heads
from transformer.analysis.heads.means import COMMAND, read_means
from transformer.analysis.teacher_forcing import forced_pair, values_at
from transformer.errors import InputError, quoted
from transformer.hooks import Hook, Silence
from transformer.kinds import Kind, attention_name
from transformer.model import Transformer
from transformer.trace import AttentionTrace

Replacement = Literal["zero", "uniform", "mean", "rows", "z", "weights"]
Rows: TypeAlias = tuple[tuple[int, tuple[int, ...]], ...]
"""Painted rows in their order, each with the keys that it looks at."""

SUM_TOLERANCE = 1e-3  # largest distance of the sum of a given row from 1

# the position of the first query of the decoder pass under way, in this context
_first_query: ContextVar[int] = ContextVar("first_query", default=0)

# passed before any weights or outputs of the decoder: there a step's position can be seen
_POSITION_POINT = f"{attention_name('decoder_self', 0)}.hook_attn_scores"


@choices.check_choices
@dataclass(frozen=True)
class Removal:
    """One head that is removed, and what replaces it.

    Args:
        kind: the kind of attention.
        layer: the layer, from 0.
        head: the head within its layer, from 0.
        how: the replacement. "zero" sets the output z to 0; "uniform" spreads each row evenly over
            all keys that it may see; "mean" sets z to its mean over a corpus; "rows" sets some rows
            of the weights; "z" and "weights" set what the head has on a second sentence.
        rows: the painted rows for "rows".
        shape: queries and keys of the map on which the rows were painted.

    Raises:
        InputError: if the kind, a number or a row is not valid.
    """

    kind: Kind
    layer: int
    head: int
    how: Replacement = "zero"
    rows: Rows = ()
    shape: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        place: tuple[tuple[str, object], ...] = (("layer", self.layer), ("head", self.head))
        for name, value in place:
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InputError(f"{quoted(value)} is not the number of a {name}, from 0.")
        if bool(self.rows) != (self.how == "rows") or not all(dict(self.rows).values()):
            raise InputError(
                "Rows, each with a key, are given for the way “rows”, and only for it: add them or "
                "leave them out."
            )
        queries, keys = self.shape
        for row, row_keys in self.rows:
            last = row if self.kind == "decoder_self" else keys - 1
            if row >= queries or max(row_keys) > last:
                raise InputError(
                    f"The painted row {row} of {self.place.title}, from 0, looks at key "
                    f"{max(row_keys)}, which a map of {queries} × {keys} does not have or its mask "
                    f"hides: paint it again."
                )

    @property
    def place(self) -> Head:
        """The head that is removed."""
        return Head(self.kind, self.layer, self.head)


def rows_removal(place: Head, rows: dict[int, tuple[int, ...]], shape: tuple[int, int]) -> Removal:
    """Make the removal that sets some rows of a head's weights on a map of this shape."""
    return Removal(*place, how="rows", rows=tuple(sorted(rows.items())), shape=shape)


@contextmanager
def removed(
    model: translator.Translator | Transformer,
    removals: Sequence[Removal],
    means: Mapping[Kind, Tensor] | None = None,
    maps: Mapping[Head, np.ndarray] = MappingProxyType({}),
) -> Iterator[None]:
    """Remove these heads inside the `with` block, only in this thread or task.

    Args:
        model: the model, or its translator.
        removals: the heads, with replacements that need no trace: "zero", "uniform" and "mean".
        means: the mean z of each head, `[layer, head, d_v]`, for "mean"; by default, those stored
            beside the checkpoint of a translator.
        maps: the weights, `[query, key]`, that other heads have in place of their own. If the
            search or the translation has more rows, they stay as they are.

    Raises:
        InputError: if the model has no such head; if a head is named twice, needs a trace or has no
            mean; if a map is not one of weights; inside the block, if it does not fit the length of
            the sentence.
    """
    transformer = model.model if isinstance(model, translator.Translator) else model
    require_heads(transformer, [*(removal.place for removal in removals), *maps])
    for place, weights in maps.items():
        ahead = place.kind == "decoder_self" and np.triu(weights, 1).any()
        if ahead or np.min(weights) < 0 or not (abs(weights.sum(-1) - 1) <= SUM_TOLERANCE).all():
            raise InputError(
                f"The map of {place.title} is not one of weights: each of its rows sums to 1, "
                f"without a weight below 0 and, in the decoder, on a later position."
            )
    to_mean = {removal.kind for removal in removals if removal.how == "mean"}
    if to_mean and means is None and isinstance(model, translator.Translator):
        means = read_means(model.folder, transformer.config)
    for kind in to_mean:
        if means is None:
            raise InputError(
                f"The mean output of the heads was not measured for this model: run {COMMAND}, or "
                f"choose another way to take a head away."
            )
        stack = transformer.config.stack(kind)
        shape = [stack.N, stack.h, stack.d_v]
        actual = list(means[kind].shape) if kind in means else None
        if actual != shape:
            reason = "none is given" if actual is None else f"those given have the shape {actual}"
            raise InputError(
                f"The mean output of each head of {kind} must be [layer, head, d_v] = {shape}, but "
                f"{reason}: give those of this model."
            )
    hooks = [*_hooks(removals, means or {}), *_map_hooks(transformer, maps)]
    with _installed(transformer, hooks):
        yield


@contextmanager
def patched(model: Transformer, donor: AttentionTrace, heads: Sequence[Head]) -> Iterator[None]:
    """Give heads the output z, `[query, d_v]`, that they have on another sentence, row by row."""
    require_heads(model, heads)
    layers: dict[tuple[Kind, int], list[int]] = defaultdict(list)
    for head in heads:
        layers[head.kind, head.layer].append(head.head)
    points = {f"{attention_name(*layer)}.hook_z": layer for layer in layers}
    with torch.no_grad():
        _, cache = values_at(model, forced_pair(model, donor), points)
    hooks: list[tuple[str, Hook]] = [(_POSITION_POINT, _set_position)]
    for name, (kind, layer) in points.items():
        numbers = layers[kind, layer]
        hooks.append((name, _edit(numbers, partial(_z_of_donor, kind, cache[name][0, numbers]))))
    with _installed(model, hooks):
        yield


@contextmanager
def _installed(model: Transformer, hooks: Iterable[tuple[str, Hook]]) -> Iterator[None]:
    """Install these hooks; those on a decoder's weights and outputs may call `_replaced_rows`."""
    token = _first_query.set(0)
    try:
        with ExitStack() as stack:
            for point, hook in hooks:
                stack.enter_context(model.hooks({point: hook}))
            yield
    finally:
        _first_query.reset(token)


def _set_position(scores: Tensor, _name: str) -> None:
    """Remember the position of the first query: the keys are all positions so far."""
    _first_query.set(scores.size(-1) - scores.size(-2))


def _hooks(removals: Sequence[Removal], means: Mapping[Kind, Tensor]) -> Iterator[tuple[str, Hook]]:
    key = attrgetter("how", "kind", "layer")
    for (how, kind, layer), same in groupby(sorted(removals, key=key), key):
        name, group = attention_name(kind, layer), list(same)
        heads = [removal.head for removal in group]
        match how:
            case "zero":
                yield f"{name}.hook_z", Silence(tuple(heads))
            case "uniform":
                yield (
                    f"{name}.hook_attn_scores",
                    _edit(heads, lambda scores: scores.masked_fill(~scores.isneginf(), 0)),
                )
            case "mean":
                mean = means[kind][layer, heads][:, None]  # [head, 1, d_v]
                yield f"{name}.hook_z", _edit(heads, mean.to)
            case _:
                raise InputError(
                    f"{group[0].place.title} is replaced by “{how}”, which depends on a "
                    f"sentence: use transformer.analysis.heads.effect."
                )


def _map_hooks(model: Transformer, maps: Mapping[Head, np.ndarray]) -> Iterator[tuple[str, Hook]]:
    for (kind, layer, head), weights in maps.items():
        if kind != "encoder_self":
            yield _POSITION_POINT, _set_position
        rows = torch.as_tensor(weights, dtype=torch.float32, device=model.device)
        edit = partial(_painted, kind, rows)
        yield f"{attention_name(kind, layer)}.hook_pattern", _edit([head], edit)


def _edit(heads: Sequence[int], edit: Callable[[Tensor], Tensor]) -> Hook:
    """Make a hook that replaces what some heads have, `[batch, head, query, ...]`."""

    def hook(value: Tensor, _name: str) -> Tensor:
        value = value.clone()
        value[:, heads] = edit(value[:, heads])
        return value

    return hook


def _replaced_rows(kind: Kind, rows: Tensor, value: Tensor) -> Tensor:
    """Replace the rows of a value by `[head, query, ...]`, as far as there are any.

    A step of a search over a cache has one row; the encoder always has all.
    """
    first = 0 if kind == "encoder_self" else _first_query.get()
    own = rows[:, first : first + value.size(2)].to(value)
    value[:, :, : own.size(1)] = own
    return value


def _z_of_donor(kind: Kind, rows: Tensor, z: Tensor) -> Tensor:
    if kind == "encoder_self" and z.size(2) != rows.size(1):
        raise InputError(
            f"The second sentence has {rows.size(1)} pieces and this one {z.size(2)}: choose one "
            f"of the same length."
        )
    return _replaced_rows(kind, rows, z)


def _painted(kind: Kind, pattern: Tensor, weights: Tensor) -> Tensor:
    """Replace the rows of a map by those of a pattern, with as many columns as there are keys."""
    queries, keys = weights.shape[2:]
    if kind == "decoder_self":  # a row has nothing beyond its own position
        missing = max(keys - pattern.size(1), 0)
        pattern = torch.nn.functional.pad(pattern[:, :keys], (0, missing))
    elif pattern.size(1) != keys or (kind == "encoder_self" and pattern.size(0) != queries):
        wanted = f"{queries} × {keys}" if kind == "encoder_self" else f"{keys} columns"
        raise InputError(
            f"The pattern has {pattern.size(0)} × {pattern.size(1)} weights, but this sentence "
            f"asks for {wanted}: paint it on this sentence."
        )
    return _replaced_rows(kind, pattern[None], weights)
