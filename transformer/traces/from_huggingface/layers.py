"""Layers of a model by what they look at: configuration, cache, shapes and weights tell it."""

from dataclasses import replace
from typing import Any

import numpy as np

from transformer.arrays import Bools
from transformer.errors import InputError, quoted
from transformer.kinds import Kind
from transformer.traces.from_huggingface.outputs import NOT_TOKENS, Outputs, Rows, field_of

_STATES = "linear", "mamba", "recurrent", "conv", "moe", "mlp"  # in the names of other layers


def place_layers(attentions: Outputs, outputs: Any, config: Any) -> Outputs:
    """Give the layers of a single stack their numbers in the model, and cross-attention its kind.

    Hybrid models have no weights of some layers, or states; some of Mllama look at an image.
    """
    listed = all(isinstance(step, (list, tuple)) for step in attentions.decoder)
    if not attentions.one_stack or not listed:
        return attentions
    states, last = (field_of(outputs, name) for name in ("hidden_states", "last_hidden_state"))
    sentences = (*getattr(last, "shape", ()), attentions.batch_size)[0]
    if sentences != attentions.batch_size:  # it counts windows
        raise InputError(NOT_TOKENS)
    kinds = _cached(outputs) if config is None else _configured(config)
    count, size = len(attentions.decoder[0]), len(kinds)
    own = [number for number, kind in enumerate(kinds) if kind == "decoder_self"]
    every = [number for number, kind in enumerate(kinds) if kind]  # an image may not have been seen
    # not all layers have keys of their own in a cache, as those of Gemma 3n share them
    ways = [every] if config is None else [every, own, [*range(size)]]
    numbers = next((way for way in ways if len(way) == count), None)
    if numbers is None:
        known = isinstance(states, (list, tuple)) and attentions.sequences is None
        depth = max(size, len(states) - 1 if known else 0)
        note = (
            f"Of {depth} layers, {count} have weights and are numbered from 1: give "
            f"config=model.config to number them as in the model."
        )
        return replace(attentions, notes=(*attentions.notes, *[note] * (depth > count)))
    steps = [dict(zip(numbers, step, strict=False)) for step in attentions.decoder]
    decoder, cross = (
        [[step.get(n) if kinds[n] == kind else None for n in range(size)] for step in steps]
        for kind in ("decoder_self", "cross")
    )
    return replace(attentions, decoder=decoder, cross=cross if numbers == every != own else ())


def _configured(config: Any) -> list[Kind | None]:
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    count = getattr(config, "num_hidden_layers", None)
    if not isinstance(count, int):
        raise InputError(f"{quoted(config)} says nothing of layers: give config=model.config.")
    types = getattr(config, "layer_types", None) or ["attention"] * count
    across = getattr(config, "cross_attention_layers", None) or ()
    return [
        "cross" if n in across else None if any(map(name.__contains__, _STATES)) else "decoder_self"
        for n, name in enumerate(types)
    ]


def _cached(outputs: Any) -> list[Kind | None]:
    """Tell by the layers of the cache, of which those of attention have keys."""
    layers = getattr(field_of(outputs, "past_key_values"), "layers", ())
    return [None if getattr(layer, "keys", None) is None else "decoder_self" for layer in layers]


def over_tokens(maps: Rows) -> Rows:
    """Leave out layers without a row and a column for each token, None in their place.

    Funnel pools its tokens, MiniMax has states, Mllama looks at an image.
    """
    shapes = [() if layer is None else layer.shape[1:] for layer in maps]
    size = max((rows for rows, keys in filter(None, shapes) if rows == keys), default=0)
    fitting = [m if shape == (size, size) else None for m, shape in zip(maps, shapes, strict=True)]
    if not size or in_windows(fitting):
        raise InputError(NOT_TOKENS)
    return fitting


def in_windows(maps: Rows) -> bool:
    """Return whether the columns are offsets, by chance as many as tokens, as in Longformer.

    Then the first and the last token look at others, and others at them, but not at themselves.
    """
    seen = _seen(maps)
    return bool(seen[:, 0].any() and seen[:, -1].any() and not seen[0, 0] and not seen[-1, -1])


def looks_back(maps: Rows) -> bool:
    """Return whether those before some position see neither it nor what follows.

    In a decoder each is such a position, or the first behind what it reads as a whole, such as an
    image. What follows sees what stands before, unlike a second text in a row, and itself, unlike
    padding.
    """
    seen = _seen(maps)
    size, places = len(seen), np.arange(len(seen))
    last = np.where(seen, places, -1).max(1, initial=-1)  # that each row sees
    first = np.where(seen, places, size).min(1, initial=size)
    unseen = np.maximum.accumulate(last)[:-1] < places[1:]
    looked_back = np.minimum.accumulate(first[::-1])[::-1][1:] < places[1:]
    whole = unseen & looked_back & seen.diagonal()[1:]
    return bool(whole.any()) or not np.triu(seen, 1).any()


def _seen(maps: Rows) -> Bools:
    """Mark the keys that some head of some layer gives weight, `[query, key]`."""
    seen: Bools = np.any([layer.any(0) for layer in maps if layer is not None], axis=0)
    return seen
