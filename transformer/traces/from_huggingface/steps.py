"""One map for each head from the steps of a generation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from transformer.errors import InputError
from transformer.traces.fields import Weights
from transformer.traces.from_huggingface.outputs import Layers, row_of
from transformer.traces.from_huggingface.tokens import Keep


def self_attention(
    steps: Sequence[Layers], rows: Sequence[int], mask: Keep | None, title: str
) -> list[Weights]:
    """Join the decoder's self-attention over all read positions, `[head, query, query]` each.

    The first step has a row for each token of the prompt. Each later one has a row for its own
    token, or without a cache for all; its keys are all positions so far, with a static cache also
    places that are still free, with a sliding window the last ones alone.

    Args:
        steps: the layers of each step, `[batch, head, query, key]`.
        rows: the row of each step's batch through which the sequence came.
        mask: the tokens of the prompt that are no padding; the rows of padding are ignored.
        title: the name of the attention in an error message.

    Raises:
        InputError: if the steps do not fit each other.
    """
    prompt = prompt_length(steps, rows, title)
    size = prompt + len(rows) - 1
    layers = []
    for layer in range(len(steps[0])):
        whole: Any = None
        for step, row in enumerate(rows):
            name = f"{title} of layer {layer + 1} in step {step + 1}"
            weights = row_of(_layer(steps, step, layer, title), row, name)
            end = prompt + step
            new = weights[:, -(prompt if step == 0 else 1) :]
            if whole is None:
                whole = np.zeros((len(new), size, size), np.float32)
            if new.shape[:1] != whole.shape[:1]:
                raise _unfitting(name, "another number of heads than the steps before")
            keys = new.shape[2]
            shown = new if mask is None or step else np.compress(mask, new, axis=1)
            if shown[..., end:].any() or (step == 0 and keys < end):
                raise _unfitting(name, f"{keys} keys where {end} positions had been read")
            read = new[..., :end]
            whole[:, end - new.shape[1] : end, end - read.shape[2] : end] = read
        layers.append(whole)
    return layers


def cross_attention(steps: Sequence[Layers], rows: Sequence[int], title: str) -> list[Weights]:
    """Join the cross-attention of all positions that the decoder read, `[head, query, key]` each.

    Raises:
        InputError: if the steps do not fit each other.
    """
    layers = []
    for layer in range(len(steps[0])):
        parts = []
        for step, row in enumerate(rows):
            name = f"{title} of layer {layer + 1} in step {step + 1}"
            weights = row_of(_layer(steps, step, layer, title), row, name)
            parts.append(weights if step == 0 else weights[:, -1:])
            if parts[-1].shape[::2] != parts[0].shape[::2]:
                raise _unfitting(name, "another number of heads or keys than the steps before")
        layers.append(np.concatenate(parts, axis=1))
    return layers


def prompt_length(steps: Sequence[Layers], rows: Sequence[int], title: str) -> int:
    """Count the tokens that were read in the first step."""
    first = row_of(_layer(steps, 0, 0, title), rows[0], f"{title} of layer 1 in step 1")
    return int(first.shape[1])


def _layer(steps: Sequence[Layers], step: int, layer: int, title: str) -> Any:
    if step >= len(steps) or not isinstance(steps[step], (list, tuple)):
        raise _unfitting(title, f"{len(steps)} steps, fewer than the sequence that was generated")
    if layer >= len(steps[step]):
        raise _unfitting(f"{title} in step {step + 1}", "fewer layers than the first step")
    return steps[step][layer]


def _unfitting(title: str, has: str) -> InputError:
    return InputError(
        f"The {title} has {has}: give the outputs of one call of generate as they were returned."
    )
