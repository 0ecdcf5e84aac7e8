"""Take attention heads away while the model runs, in a search as in a teacher-forced pass.

All of it is hooks of the current context: the model is never changed, and two people who take away
different heads of one model never meet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor

from transformer.analysis.corpus import head_report
from transformer.analysis.heads.head import Head, require_heads
from transformer.errors import InputError, quoted
from transformer.hooks import Hook, Silence
from transformer.kinds import KINDS, Kind, attention_name
from transformer.model import Transformer
from transformer.translator import Translator

How = Literal["zero", "uniform", "mean", "pattern"]
Pattern: TypeAlias = tuple[tuple[float, ...], ...]

SUM_TOLERANCE = 1e-3
"""How far the sum of a painted row may be from 1."""
MOST_CELLS = 2**20
"""Of a painted pattern; 512 × 512 pieces have a quarter of it."""

# the position of the first query of the decoder pass under way, in this context
_first_query: ContextVar[int] = ContextVar("first_query", default=0)


@dataclass(frozen=True)
class Removal:
    """One head that is taken away, and what stands in its place.

    Args:
        kind: of attention.
        layer: from 0.
        head: from 0.
        how: "zero" sets the head's output z to 0; "uniform" spreads each row evenly over all keys
            that it may see; "mean" sets z to its mean over a corpus; "pattern" sets the weights.
        pattern: `[query, key]` for "pattern", each row sums to 1; numbers of float32. In a search
            or a translation with more rows than these, the further rows stay as they are.

    Raises:
        InputError: if the kind, a number or the pattern is none.
    """

    kind: Kind
    layer: int
    head: int
    how: How = "zero"
    pattern: Pattern | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(
                f"{quoted(self.kind)} is no kind of attention: choose one of {', '.join(KINDS)}."
            )
        numbers: tuple[tuple[str, object], ...] = (("layer", self.layer), ("head", self.head))
        for name, value in numbers:
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InputError(f"A {name} counts from 0, and {quoted(value)} is no such number.")
        if self.how not in get_args(How):
            raise InputError(
                f"{quoted(self.how)} is no way to take a head away: choose one of "
                f"{', '.join(get_args(How))}."
            )
        if (self.pattern is None) == (self.how == "pattern"):
            raise InputError(
                "A pattern is given for the way “pattern”, and only for it: add it or leave it out."
            )
        if self.pattern is not None:
            object.__setattr__(self, "pattern", _checked(self.pattern, self.kind))

    @property
    def place(self) -> Head:
        """Which head it is."""
        return Head(self.kind, self.layer, self.head)


def painted(place: Head, weights: np.ndarray) -> Removal:
    """The removal that sets a head's weights to `[query, key]`.

    Raises:
        InputError: as `Removal` does.
    """
    return Removal(*place, how="pattern", pattern=tuple(map(tuple, weights.tolist())))


@contextmanager
def removed(
    model: Translator | Transformer,
    removals: Sequence[Removal],
    means: Mapping[Kind, Tensor] | None = None,
) -> Iterator[None]:
    """Take these heads away inside the `with` block, in this thread or task alone.

    Args:
        means: mean z of each head, `[layer, head, d_v]`, for the way "mean"; by default those
            stored beside the checkpoint of a translator.

    Raises:
        InputError: if the model has no such head, a head is named twice, there is no mean of it,
            or, inside the block, a pattern is of a sentence of another length.
    """
    transformer = model.model if isinstance(model, Translator) else model
    require_heads(transformer, [removal.place for removal in removals])
    to_mean = {removal.kind for removal in removals if removal.how == "mean"}
    if to_mean and means is None:
        means = _stored_means(model)
    for kind in to_mean:
        _require_means(transformer, means or {}, kind)
    with installed(transformer, _hooks(transformer, removals, means or {})):
        yield


@contextmanager
def installed(model: Transformer, hooks: Mapping[str, Hook]) -> Iterator[None]:
    """Call these hooks; those on a decoder's weights and outputs may ask `first_row`."""
    token = _first_query.set(0)
    try:
        with model.hooks(hooks):
            yield
    finally:
        _first_query.reset(token)


POSITION_POINT = f"{attention_name('decoder_self', 0)}.hook_attn_scores"
"""Passed before any weights or outputs of the decoder: there a step's position can be seen."""


def note_position(scores: Tensor, _name: str) -> None:
    """A hook for `POSITION_POINT`: its keys are all positions so far, its queries the last ones."""
    _first_query.set(scores.size(-1) - scores.size(-2))


def first_row(kind: Kind) -> int:
    """The position of the first query of the pass under way.

    A step of a search over a cache has one query; the encoder always has all of them.
    """
    return 0 if kind == "encoder_self" else _first_query.get()


def _hooks(
    model: Transformer, removals: Sequence[Removal], means: Mapping[Kind, Tensor]
) -> dict[str, Hook]:
    """One hook for each point that is edited."""
    groups: dict[tuple[str, How, Kind, int], list[Removal]] = defaultdict(list)
    for removal in removals:
        name = attention_name(removal.kind, removal.layer)
        groups[name, removal.how, removal.kind, removal.layer].append(removal)
    hooks: dict[str, Hook] = {}
    for (name, how, kind, layer), group in groups.items():
        heads = [removal.head for removal in group]
        if how == "uniform":
            add(hooks, f"{name}.hook_attn_scores", _level(heads))
        elif how == "zero":
            add(hooks, f"{name}.hook_z", Silence(tuple(heads)))
        elif how == "mean":
            add(hooks, f"{name}.hook_z", _set_z(heads, means[kind][layer, heads]))
        else:
            rows = {r.head: torch.tensor(r.pattern, device=model.device) for r in group}
            add(hooks, f"{name}.hook_pattern", _set_pattern(kind, rows))
            if kind != "encoder_self":
                hooks[POSITION_POINT] = _both(note_position, hooks.get(POSITION_POINT))
    return hooks


def add(hooks: dict[str, Hook], name: str, hook: Hook) -> None:
    """Put a hook behind the one that is there already."""
    hooks[name] = _both(hooks[name], hook) if name in hooks else hook


def _both(first: Hook, second: Hook | None) -> Hook:
    if second is None:
        return first

    def hook(value: Tensor, name: str) -> Tensor | None:
        edited = first(value, name)
        edited_again = second(value if edited is None else edited, name)
        return edited if edited_again is None else edited_again

    return hook


def _level(heads: Sequence[int]) -> Hook:
    """For `hook_attn_scores`: equal scores wherever nothing is masked."""

    def hook(scores: Tensor, _name: str) -> Tensor:
        scores = scores.clone()
        chosen = scores[:, heads]
        scores[:, heads] = chosen.masked_fill(~chosen.isneginf(), 0)
        return scores

    return hook


def _set_z(heads: Sequence[int], values: Tensor) -> Hook:
    """For `hook_z`: the same output at every position, `[head, d_v]`."""

    def hook(z: Tensor, _name: str) -> Tensor:
        z = z.clone()
        z[:, heads] = values.to(z)[:, None]
        return z

    return hook


def _set_pattern(kind: Kind, patterns: Mapping[int, Tensor]) -> Hook:
    """For `hook_pattern`: rows of `[query, key]`, as far as there are any."""

    def hook(weights: Tensor, _name: str) -> Tensor:
        weights = weights.clone()
        first = first_row(kind)
        for head, pattern in patterns.items():
            rows = _columns(pattern, kind, weights.shape[2:])[first : first + weights.size(2)]
            weights[:, head, : len(rows)] = rows.to(weights)
        return weights

    return hook


def _columns(pattern: Tensor, kind: Kind, shape: torch.Size) -> Tensor:
    """The pattern with as many columns as there are keys."""
    queries, keys = shape
    if kind == "decoder_self":  # a row has nothing beyond its own position
        missing = max(keys - pattern.size(1), 0)
        return torch.nn.functional.pad(pattern[:, :keys], (0, missing))
    if pattern.size(1) != keys or (kind == "encoder_self" and pattern.size(0) != queries):
        wanted = f"{queries} × {keys}" if kind == "encoder_self" else f"{keys} columns"
        raise InputError(
            f"The pattern has {pattern.size(0)} × {pattern.size(1)} weights, but this sentence "
            f"asks for {wanted}: paint it on this sentence."
        )
    return pattern


def _stored_means(model: Translator | Transformer) -> Mapping[Kind, Tensor]:
    stored = None
    if isinstance(model, Translator):
        stored = head_report.read_means(model.folder, model.model.config)
    if stored is None:
        raise InputError(
            "The mean output of the heads was not measured for this model: run "
            "python -m training.evaluate heads, or choose another way to take a head away."
        )
    return stored


def _require_means(model: Transformer, means: Mapping[Kind, Tensor], kind: Kind) -> None:
    config = model.config
    shape = [config.N, config.h, config.d_v]
    found = list(means[kind].shape) if kind in means else None
    if found != shape:
        what = "none is given" if found is None else f"those given have the shape {found}"
        raise InputError(
            f"The mean output of each head of {kind} must be [layer, head, d_v] = {shape}, but "
            f"{what}: give those of this model."
        )


def _checked(pattern: Pattern, kind: Kind) -> Pattern:
    """The pattern in numbers of float32.

    Raises:
        InputError: if it is no pattern of this kind.
    """
    try:
        values = np.array(pattern, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            "The pattern is no table of numbers: give rows of the same length."
        ) from error
    if values.ndim != 2 or not 0 < values.size <= MOST_CELLS:
        raise InputError(
            f"The pattern has shape {list(values.shape)}: it must be a table of rows and columns "
            f"with at most {MOST_CELLS:,} weights."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise InputError("A weight of the pattern is no number from 0 to 1: paint it again.")
    for row, total in enumerate(values.sum(-1)):
        if abs(total - 1) > SUM_TOLERANCE:
            raise InputError(f"Row {row + 1} of the pattern sums to {total:.4g}: it must be 1.")
    if kind == "decoder_self" and (values.shape[0] != values.shape[1] or np.triu(values, 1).any()):
        raise InputError(
            "A pattern of the decoder's self-attention has as many rows as columns, and nothing "
            "above its diagonal: no position may see a later one."
        )
    return tuple(map(tuple, values.astype(np.float32).tolist()))
