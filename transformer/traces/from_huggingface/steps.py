"""Maps of all positions, joined from the steps of `generate`."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from transformer.errors import InputError
from transformer.traces.fields import Weights
from transformer.traces.from_huggingface.outputs import Keep, Layers, Rows, first_layer, row_of


def self_attention(
    steps: Sequence[Layers], rows: Sequence[int], mask: Keep | None, title: str
) -> Rows:
    """Join the decoder's self-attention over all read positions, `[head, query, query]` each.

    The first step has a row for each token of the prompt. Each later one has a row for its own
    token, or without a cache for all. Behind that token a static cache has places that are free;
    before it are all positions, with a sliding window the last ones alone.

    `rows` are the rows of each step's batch through which the sequence came; `mask` marks the
    tokens of the prompt that are no padding, whose rows are ignored.
    """
    prompt = prompt_length(steps, rows, title)
    size = prompt + len(rows) - 1
    layers: Rows = []
    for layer, first in enumerate(steps[0]):
        if first is None:
            layers.append(None)
            continue
        parts = _parts(steps, rows, layer, title)
        _, first_rows = next(parts)
        shown = first_rows if mask is None else np.compress(mask, first_rows, axis=1)
        if first_rows.shape[2] < prompt or shown[..., prompt:].any():
            raise _unreadable(f"{title} of layer {layer + 1}", prompt)
        whole = np.zeros((len(first_rows), size, size), np.float32)
        whole[:, :prompt, :prompt] = first_rows[..., :prompt]
        for end, (name, new) in enumerate(parts, start=prompt + 1):
            count = min(new.shape[2], end)
            if new[..., count:].any():
                raise _unfitting(name, f"{new.shape[2]} keys where {end} had been read")
            whole[:, end - 1, end - count : end] = new[:, 0, :count]
        layers.append(whole)
    written = [layer[:, prompt:, 1:] for layer in layers if layer is not None]
    if size > prompt and not any(rows[:, 0].any() for rows in written):  # that of the first token
        raise _unreadable(f"{title} in step 2, as assisted generation returns it,", prompt)
    return layers


def cross_attention(steps: Sequence[Layers], rows: Sequence[int], title: str) -> Rows:
    """Join cross-attention of all read positions, `[head, query, key]` each."""
    layers: Rows = []
    for layer, first in enumerate(steps[0]):
        parts: list[Weights] = []
        for name, part in () if first is None else _parts(steps, rows, layer, title):
            parts.append(part)
            if part.shape[::2] != parts[0].shape[::2]:
                raise _unfitting(name, "another number of heads or keys than the steps before")
        layers.append(np.concatenate(parts, axis=1) if parts else None)
    return layers


def _parts(
    steps: Sequence[Layers], rows: Sequence[int], layer: int, title: str
) -> Iterator[tuple[str, Weights]]:
    """Yield the name and the new rows of each step of a layer, `[head, query, key]`."""
    heads = 0
    for step, row in enumerate(rows):
        name = f"{title} of layer {layer + 1} in step {step + 1}"
        weights = row_of(_layer(steps, step, layer, title), row, name)
        heads = heads or len(weights)
        if len(weights) != heads:
            raise _unfitting(name, "another number of heads than the steps before")
        yield name, weights if step == 0 else weights[:, -1:]


def prompt_length(steps: Sequence[Layers], rows: Sequence[int], title: str) -> int:
    """Count the tokens that were read in the first step."""
    _layer(steps, 0, 0, title)
    return int(row_of(first_layer(steps[0]), rows[0], f"{title} in step 1").shape[1])


def _layer(steps: Sequence[Layers], step: int, layer: int, title: str) -> Any:
    if step >= len(steps) or not isinstance(steps[step], (list, tuple)):
        raise _unfitting(title, f"{len(steps)} steps, fewer than the sequence that was generated")
    if layer >= len(steps[step]):
        raise _unfitting(f"{title} in step {step + 1}", "fewer layers than the first step")
    return steps[step][layer]


def _unreadable(title: str, prompt: int) -> InputError:
    return InputError(
        f"The {title} is not over the {prompt} tokens of this call and those after them: call the "
        f"model once with the whole sequence, and give what it returns."
    )


def _unfitting(title: str, has: str) -> InputError:
    return InputError(
        f"The {title} has {has}: give the outputs of one call of generate as they were returned."
    )
