"""Outputs of the library transformers as a trace; that library is never imported here."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from transformer.arrays import Bools, Singles
from transformer.errors import InputError
from transformer.kinds import KIND_TITLES, KINDS, Kind
from transformer.traces.fields import TraceFields
from transformer.traces.from_arrays import TraceOptions, fields_of_arrays
from transformer.traces.from_huggingface.inputs import ModelInputs
from transformer.traces.from_huggingface.layers import (
    in_windows,
    looks_back,
    over_tokens,
    place_layers,
)
from transformer.traces.from_huggingface.outputs import (
    NOT_TOKENS,
    Layers,
    Outputs,
    Rows,
    read,
    row_of,
    shape_of_layer,
)

Texts = tuple[str, ...] | None


def fields_of_outputs(outputs: Any, options: TraceOptions) -> TraceFields:
    """Make the fields of `AttentionTrace.from_huggingface`."""
    attentions = place_layers(read(outputs), outputs, options.config)
    inputs = ModelInputs(options, attentions)
    wanted = KINDS if options.kinds is None else options.kinds
    alone, generated = attentions.one_stack, attentions.sequences is not None
    prefix = "" if alone else "decoder_"
    mask, notes, encodes = inputs.mask(prefix), [*attentions.notes], False
    if generated:
        layers, reads, writes, mask = _generated(attentions, inputs, wanted, mask)
    else:
        mask, reads = inputs.labelled(mask), None
        writes = inputs.texts(options.target_tokens, "target", mask)
        stacks: dict[Kind, Any] = {"decoder_self": attentions.decoder, "cross": attentions.cross}
        layers = {
            kind: _rows(steps[0], inputs.number, kind)
            for kind, steps in stacks.items()
            if steps and (kind in wanted or alone)
        }
    if alone and "decoder_self" in layers:
        layers["decoder_self"] = over_tokens(layers["decoder_self"])
    for kind, maps in layers.items():
        keys = mask if kind == "decoder_self" else None if alone else inputs.mask()
        layers[kind] = [_without_padding(layer, mask, keys) for layer in maps]
    own = layers.get("decoder_self")
    if alone and own:
        lost = zip(attentions.decoder[0], own, strict=True)
        if any(shown is None is not given for given, shown in lost):
            notes.append(
                "Layers that look at blocks, states or an image, and not at each token, are left "
                "out: give config=model.config to see those that look at an image."
            )
        ahead = {bool(np.triu(layer, 1).any()) for layer in own if layer is not None}
        if len(ahead) > 1 and {*wanted} != {"encoder_self"}:
            raise InputError(
                "Some layers look ahead and the others never do, as where Mllama looks at an "
                "image: give config=model.config, which tells what each layer looks at."
            )
        decodes = generated or attentions.cross or writes or {*wanted} == {"decoder_self"}
        encodes = not decodes and not looks_back(own)
        layers = {"encoder_self": own} if encodes else layers
        layers = {kind: maps for kind, maps in layers.items() if kind in wanted}
    elif attentions.encoder and "encoder_self" in wanted:
        if encoder := _encoder(attentions, inputs):
            layers["encoder_self"] = encoder
        elif layers:
            notes.append(
                "There is no encoder self-attention: there is not a row and a column for each "
                "position of the source, as where an encoder looks in windows or blocks."
            )
        else:
            raise InputError(NOT_TOKENS)
    if absent := [kind for kind in options.kinds or () if kind not in layers]:
        raise InputError(
            f"These outputs hold no weights of {', '.join(absent)}: choose other kinds."
        )
    source = inputs.texts(inputs.ids(), "source", inputs.mask()) if encodes or not alone else None
    if not encodes:
        reads = reads or inputs.texts(inputs.ids(prefix), "decoder", mask)
    made = fields_of_arrays(
        layers,
        replace(
            options,
            tokens=source,
            target_tokens=writes,
            decoder_tokens=reads,
            second_start=inputs.second_start("encoder_self" in layers),
        ),
        inputs.vocabulary,
    )
    return replace(made, notes=(*made.notes, *notes))


def _encoder(outputs: Outputs, inputs: ModelInputs) -> Rows | None:
    """Read the encoder; None if it has not a row and a column for each position of the source."""
    there = [layer for layer in outputs.encoder if layer is not None]
    across = [layer for layer in (outputs.cross or [()])[0] if layer is not None]
    shapes = [(*(getattr(layer, "shape", ()) or [0]),) for layer in there]
    size = shape_of_layer(across[0], KIND_TITLES["cross"])[3] if across else shapes[0][-1]
    batch = shapes[0][0]
    square = all(shape[:1] + shape[2:] == (batch, size, size) for shape in shapes)
    if not square or not batch or inputs.count % batch:
        return None
    maps = _rows(outputs.encoder, inputs.row(batch), "encoder_self")
    mask = inputs.mask()
    return None if in_windows(maps) else [_without_padding(layer, mask, mask) for layer in maps]


def _generated(
    outputs: Outputs, inputs: ModelInputs, wanted: Collection[Kind], mask: Bools | None
) -> tuple[dict[Kind, Rows], Texts, Texts, Bools | None]:
    """Read the steps of `generate`; a position reads a token and writes the next one."""
    assert outputs.sequences is not None
    sequence = outputs.sequences[inputs.number]
    every = outputs.decoder or outputs.cross
    title = KIND_TITLES["decoder_self" if outputs.decoder else "cross"]
    _layer(every, 0, 0, title)  # there is one
    first = next((layer for layer in every[0] if layer is not None), None)
    size, _, prompt, _ = shape_of_layer(first, f"{title} in step 1")
    rows = _rows_of_steps(outputs, inputs.number, len(every), size)
    named = inputs.ids("decoder_")
    if named is None:
        ids = sequence[: prompt + len(rows)]
        ids = ids[: prompt + inputs.vocabulary.end_of(ids[prompt:])] if len(ids) > prompt else ids
        texts = inputs.vocabulary.texts(ids, "generated sequence")
    else:
        texts = (inputs.texts(named, "generated sequence") or ())[: prompt + len(rows)]
    if len(texts) <= prompt:
        raise InputError(
            f"The generated sequence has {len(texts)} tokens, and the model read {prompt} in its "
            f"first step: give the whole sequence, prompt included."
        )
    if mask is not None and not outputs.one_stack and len(mask) == prompt - 1:
        mask = np.concatenate([[True], mask])  # before it `generate` puts its start token
    if mask is not None and len(mask) != prompt:
        raise InputError(
            f"The attention mask has {len(mask)} positions, and the model read {prompt} tokens "
            f"in its first step: give the mask of the prompt."
        )
    rows = rows[: len(texts) - prompt]
    layers: dict[Kind, Rows] = {}
    if outputs.decoder and "decoder_self" in wanted:
        layers["decoder_self"] = _self_attention(outputs.decoder, rows, prompt, mask, title)
    if outputs.cross and "cross" in wanted:
        layers["cross"] = _cross_attention(outputs.cross, rows, KIND_TITLES["cross"])
    if mask is None:
        return layers, texts[:-1], texts[1:], None
    mask = np.concatenate([mask, np.ones(len(rows) - 1, bool)])
    return layers, (*compress(texts[:-1], mask),), (*compress(texts[1:], mask),), mask


def _rows_of_steps(outputs: Outputs, number: int, count: int, size: int) -> list[int]:
    """Return the row of a sequence in each step's batch, in which a beam search reorders them."""
    assert outputs.sequences is not None
    if outputs.beams is None:
        if size != len(outputs.sequences):
            raise InputError(
                f"There are {len(outputs.sequences)} sequences and {size} rows of attention: "
                f"give the outputs with their beam_indices, from generate with output_scores=True."
            )
        return [number] * count
    if number >= len(outputs.beams):
        raise InputError("There are fewer rows of beam_indices than sequences: give both whole.")
    return [row for row in outputs.beams[number] if row >= 0][:count]


def _self_attention(
    steps: Sequence[Layers], rows: Sequence[int], prompt: int, mask: Bools | None, title: str
) -> Rows:
    """Join the decoder's self-attention over all read positions, `[head, query, query]` each.

    The first step has a row for each token of the prompt; a later one for its own token, or without
    a cache for all. The keys end with the own token, but for free places of a static cache and for
    candidates of assisted generation. A layer whose keys are not these tokens is None.
    """
    ends = (*range(prompt + 1, prompt + len(rows)),)
    size = prompt + len(ends)
    maps: Rows = [None] * len(steps[0])
    alike: dict[tuple[int, ...], dict[int, list[Singles]]] = defaultdict(dict)  # by their widths
    own_rows = False
    for number, given in enumerate(steps[0]):
        if given is None:
            continue
        first, *written = _parts(steps, rows, number, title)
        shown = first if mask is None else np.compress(mask, first, axis=1)
        widths = tuple(part.shape[2] for part in written)
        # keys of a window and candidates may be as many as tokens: then no head sees the last
        chance = widths == ends and not all(part[..., -1].any() for part in written)
        if chance or first.shape[2] < prompt or shown[..., prompt:].any():
            continue
        whole = maps[number] = np.zeros((len(first), size, size), np.float32)
        whole[:, :prompt, :prompt] = first[..., :prompt]
        alike[widths][number] = written
        own_rows |= not written or bool(written[0][..., 1:].any())  # none sees the first key alone
    for widths, layers in alike.items():
        for step, end in enumerate(ends):
            # a head may round its own weight to 0, so all heads tell where the own token is
            seen = np.any([written[step].any((0, 1)) for written in layers.values()], axis=0)
            own = max(np.flatnonzero(seen), default=widths[step] - 1)
            count = end if widths == ends else min(own + 1, end)
            for number, written in layers.items():
                new, layer = written[step], maps[number]
                if layer is None or new[..., count:].any():
                    maps[number] = None
                else:
                    layer[:, end - 1, end - count : end] = new[:, 0, :count]
    if not own_rows or all(layer is None for layer in maps):
        raise InputError(
            f"The {title} is not over the {prompt} tokens of this call and those after them, as in "
            f"step 2 of assisted generation or where a cache was there before: call the model once "
            f"with the whole sequence, and give what it returns."
        )
    return maps


def _cross_attention(steps: Sequence[Layers], rows: Sequence[int], title: str) -> Rows:
    """Join cross-attention of all read positions, `[head, query, key]` each."""
    layers: Rows = []
    for number, first in enumerate(steps[0]):
        parts = [] if first is None else _parts(steps, rows, number, title)
        if len({part.shape[2] for part in parts}) > 1:
            raise _unfitting(f"{title} of layer {number + 1}", "another number of keys in a step")
        layers.append(np.concatenate(parts, axis=1) if parts else None)
    return layers


def _parts(steps: Sequence[Layers], rows: Sequence[int], layer: int, title: str) -> list[Singles]:
    """Return the new rows of each step of a layer, `[head, query, key]`."""
    parts: list[Singles] = []
    for step, row in enumerate(rows):
        name = f"{title} of layer {layer + 1} in step {step + 1}"
        weights = row_of(_layer(steps, step, layer, title), row, name)
        parts.append(weights[:, -1:].copy() if parts else weights)
        if len(weights) != len(parts[0]):
            raise _unfitting(name, "another number of heads than the steps before")
    return parts


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


def _rows(layers: Layers, row: int, kind: Kind) -> Rows:
    return [
        None if layer is None else row_of(layer, row, f"{KIND_TITLES[kind]} of layer {number}")
        for number, layer in enumerate(layers, start=1)
    ]


def _without_padding(
    layer: Singles | None, rows: Bools | None, keys: Bools | None
) -> Singles | None:
    """Remove the padding of the two axes of `[head, query, key]`."""
    if layer is None:
        return None
    for axis, keep in ((1, rows), (2, keys)):
        if keep is None:
            continue
        if len(keep) != layer.shape[axis]:
            raise InputError(
                f"The attention mask has {len(keep)} positions and the weights "
                f"{layer.shape[axis]}: give the mask that the model was given, or weights that are "
                f"not over these tokens to from_arrays."
            )
        remaining = np.compress(keep, layer, axis=axis)
        if axis == 2 and layer.any() and not remaining.any():
            raise InputError(
                "No row looks at the tokens that the attention_mask keeps: it has 1 for a token "
                "and 0 for padding, so give ~mask of a key_padding_mask."
            )
        layer = remaining
    return layer
