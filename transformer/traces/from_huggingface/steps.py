"""Maps of all positions, joined from the steps of `generate`."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transformer.errors import InputError
from transformer.traces.fields import Weights
from transformer.traces.from_huggingface.outputs import Keep, Layers, first_layer, row_of


def self_attention(
    steps: Sequence[Layers], rows: Sequence[int], mask: Keep | None, title: str
) -> list[Weights | None]:
    """Join the decoder's self-attention over all read positions, `[head, query, query]` each.

    The first step has a row for each token of the prompt. Each later one has a row for its own
    token, or without a cache for all; its keys end with that token. Behind it a static cache has
    places that are free, and assisted generation candidates that the row does not see; before it
    are all positions, with a sliding window the last ones alone.

    `rows` are the rows of each step's batch through which the sequence came; `mask` marks the
    tokens of the prompt that are no padding, whose rows are ignored.
    """
    prompt = prompt_length(steps, rows, title)
    size = prompt + len(rows) - 1
    parts: dict[int, list[Weights]] = {
        n: [] for n, first in enumerate(steps[0]) if first is not None
    }
    for step, row in enumerate(rows):
        for layer, read in parts.items():
            name = f"{title} of layer {layer + 1} in step {step + 1}"
            weights = row_of(_layer(steps, step, layer, title), row, name)
            read.append(weights if step == 0 else weights[:, -1:].copy())
            if len(weights) != len(read[0]):
                raise _unfitting(name, "another number of heads than the steps before")
    counts = _keys_up_to_own(parts)
    layers: list[Weights | None] = [None] * len(steps[0])
    for layer, (first, *written) in parts.items():
        name = f"{title} of layer {layer + 1} in step"
        shown = first if mask is None else np.compress(mask, first, axis=1)
        if shown[..., prompt:].any():
            raise InputError(
                f"The {name} 1 looks at more than the {prompt} tokens of this call, which a cache "
                f"holds of a call before: call the model once with the whole sequence, and give "
                f"what it returns."
            )
        if first.shape[2] < prompt:
            raise InputError(
                f"The {name} 1 has {first.shape[2]} keys for {prompt} tokens, as layers that look "
                f"at blocks: call the model once with the whole sequence, and give what it returns."
            )
        whole = np.zeros((len(first), size, size), np.float32)
        whole[:, :prompt, :prompt] = first[..., :prompt]
        for end, count, new in zip(
            range(prompt + 1, size + 1), counts[layer], written, strict=True
        ):
            if count > end:
                step = end - prompt + 1
                raise _unfitting(f"{name} {step}", f"{count} keys where {end} had been read")
            whole[:, end - 1, end - count : end] = new[:, 0, :count]
        layers[layer] = whole
    return layers


def _keys_up_to_own(parts: Mapping[int, Sequence[Weights]]) -> dict[int, list[int]]:
    """Count the keys of each written row up to its own token: the last one with weight.

    A head may give its own token too little for half precision, so all layers of a kind are looked
    at, which have equally many keys in each step.
    """
    alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for layer, read in parts.items():
        alike[tuple(part.shape[2] for part in read)].append(layer)
    counts: dict[int, list[int]] = {}
    for widths, layers in alike.items():
        seen = [
            np.any([parts[n][step].any((0, 1)) for n in layers], axis=0)
            for step in range(1, len(widths))
        ]
        ends = [int(np.flatnonzero(keys)[-1]) + 1 if keys.any() else 0 for keys in seen]
        counts |= dict.fromkeys(layers, ends)
    return counts


def require_own_rows(steps: Sequence[Layers], rows: Sequence[int], title: str) -> None:
    """Raise InputError if the second step has the prompt's first row, as in assisted generation."""
    if len(rows) < 2 or len(steps) < 2 or not isinstance(steps[1], (list, tuple)):
        return
    for layer, second in zip(*steps[:2], strict=False):
        if layer is None or second is None:
            continue
        first, new = row_of(layer, rows[0], title)[:, 0], row_of(second, rows[1], title)[:, -1]
        keys = min(first.shape[1], new.shape[1])
        if (
            len(first) != len(new)
            or new[:, keys:].any()
            or (first[:, :keys] != new[:, :keys]).any()
        ):
            return
    raise InputError(
        f"The {title} in step 2 is that of the first token, as assisted generation returns it: "
        f"call the model once with the whole sequence, and give what it returns."
    )


def cross_attention(
    steps: Sequence[Layers], rows: Sequence[int], title: str, streams: int
) -> list[Weights | None]:
    """Join the first stream of cross-attention of all read positions, `[head, query, key]` each."""
    layers: list[Weights | None] = []
    for layer, first in enumerate(steps[0]):
        if first is None:
            layers.append(None)
            continue
        parts: list[Weights] = []
        for step, row in enumerate(rows):
            name = f"{title} of layer {layer + 1} in step {step + 1}"
            weights = row_of(_layer(steps, step, layer, title), row, name)
            weights = weights[:, : weights.shape[1] // streams]
            parts.append(weights if step == 0 else weights[:, -1:])
            if parts[-1].shape[::2] != parts[0].shape[::2]:
                raise _unfitting(name, "another number of heads or keys than the steps before")
        layers.append(np.concatenate(parts, axis=1))
    return layers


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


def _unfitting(title: str, has: str) -> InputError:
    return InputError(
        f"The {title} has {has}: give the outputs of one call of generate as they were returned."
    )
