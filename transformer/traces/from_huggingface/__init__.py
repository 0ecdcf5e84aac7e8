"""Outputs of the library transformers as a trace; that library is never imported here."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from transformer.errors import InputError, quoted
from transformer.kinds import KIND_TITLES, KINDS, Kind
from transformer.traces.fields import TraceFields, Weights
from transformer.traces.from_arrays import TraceOptions, fields_of_arrays
from transformer.traces.from_huggingface.inputs import ModelInputs
from transformer.traces.from_huggingface.outputs import (
    Keep,
    Layers,
    Outputs,
    Rows,
    first_layer,
    read,
    row_of,
)
from transformer.traces.from_huggingface.steps import (
    cross_attention,
    prompt_length,
    self_attention,
)

Texts = tuple[str, ...]


def fields_of_outputs(outputs: Any, options: TraceOptions) -> TraceFields:
    """Make the fields of `AttentionTrace.from_huggingface`."""
    attentions = read(outputs)
    inputs = ModelInputs(options, attentions)
    wanted = _checked_kinds(options.kinds)
    alone = attentions.one_stack
    mask = inputs.mask()
    decoder_mask = mask if alone else inputs.mask("decoder_")
    source: Texts | None = None
    reads: Texts | None = None
    writes: Texts | None
    layers: dict[Kind, Rows]
    if attentions.sequences is not None:
        layers, reads, writes, decoder_mask = _generated(attentions, inputs, wanted, decoder_mask)
    else:
        writes = inputs.texts(options.target_tokens, "target")
        stacks: dict[Kind, Any] = {"decoder_self": attentions.decoder, "cross": attentions.cross}
        layers = {
            kind: _rows(steps[0], inputs.number, kind)
            for kind, steps in stacks.items()
            if steps and (kind in wanted or alone)
        }
    if attentions.encoder and "encoder_self" in wanted:
        row = inputs.row(len(first_layer(attentions.encoder)))
        layers["encoder_self"] = _rows(attentions.encoder, row, "encoder_self")
    for kind, maps in layers.items():
        rows = mask if kind == "encoder_self" else decoder_mask
        keys = decoder_mask if kind == "decoder_self" else mask
        layers[kind] = [_cut(layer, rows, keys) for layer in maps]
    if not alone:
        source = inputs.texts(inputs.ids(), "source")
        reads = reads or inputs.texts(inputs.ids("decoder_"), "decoder")
    elif attentions.sequences is None:
        decodes = writes is not None or {*wanted} == {"decoder_self"}
        shown = [layer for layer in layers["decoder_self"] if layer is not None]
        if decodes or not any(np.triu(layer, 1).any() for layer in shown):  # none looks ahead
            reads = inputs.texts(inputs.ids(), "decoder")
        else:
            layers = {"encoder_self": layers["decoder_self"]}
            source = inputs.texts(inputs.ids(), "source")
    if absent := [kind for kind in options.kinds or () if kind not in layers]:
        raise InputError(
            f"These outputs hold no weights of {', '.join(absent)}: choose other kinds."
        )
    return fields_of_arrays(
        layers,
        replace(
            options,
            tokens=_without_padding(source, mask, "source"),
            target_tokens=_without_padding(writes, decoder_mask, "target"),
            decoder_tokens=_without_padding(reads, decoder_mask, "decoder"),
            second_start=inputs.second_start("encoder_self" in layers),
        ),
        inputs.vocabulary,
    )


def _checked_kinds(kinds: Any) -> Collection[Kind]:
    if kinds is None:
        return KINDS
    known = isinstance(kinds, Collection) and all(kind in KINDS for kind in kinds)
    if not known or not kinds or isinstance(kinds, str):
        raise InputError(
            f"There are no kinds of attention {quoted(kinds)}: give a list of {', '.join(KINDS)}."
        )
    checked: Collection[Kind] = kinds
    return checked


def _generated(
    outputs: Outputs, inputs: ModelInputs, wanted: Collection[Kind], mask: Keep | None
) -> tuple[dict[Kind, Rows], Texts, Texts, Keep | None]:
    """Read the steps of `generate`; a position reads a token and writes the next one."""
    assert outputs.sequences is not None
    sequence = outputs.sequences[inputs.number]
    every = outputs.decoder or outputs.cross
    title = KIND_TITLES["decoder_self" if outputs.decoder else "cross"]
    rows = _rows_of_steps(outputs, inputs.number, len(every))
    prompt = prompt_length(every, rows, title)
    if inputs.options.decoder_tokens is None:
        ids = sequence[: prompt + len(rows)]
        ids = ids[: prompt + inputs.vocabulary.end_of(ids[prompt:])] if len(ids) > prompt else ids
        texts = inputs.vocabulary.texts(ids, "generated sequence")
    else:
        named = inputs.texts(inputs.ids("decoder_"), "generated sequence") or ()
        texts = named[: prompt + len(rows)]
    if len(texts) <= prompt:
        raise InputError(
            f"The generated sequence has {len(texts)} tokens, and the model read {prompt} in its "
            f"first step: give the whole sequence, prompt included."
        )
    if mask is not None and len(mask) != prompt:
        raise InputError(
            f"The attention mask has {len(mask)} positions, and the model read {prompt} tokens "
            f"in its first step: give the mask of the prompt."
        )
    rows = rows[: len(texts) - prompt]
    layers: dict[Kind, Rows] = {}
    if outputs.decoder and "decoder_self" in wanted:
        layers["decoder_self"] = self_attention(outputs.decoder, rows, mask, title)
    if outputs.cross and "cross" in wanted:
        layers["cross"] = cross_attention(outputs.cross, rows, KIND_TITLES["cross"])
    if mask is not None:
        mask = np.concatenate([mask, np.ones(len(rows) - 1, bool)])
    return layers, texts[:-1], texts[1:], mask


def _rows_of_steps(outputs: Outputs, number: int, count: int) -> list[int]:
    """Return the row of a sequence in each step's batch, in which a beam search reorders them."""
    assert outputs.sequences is not None
    if outputs.beams is None:
        first = first_layer((outputs.decoder or outputs.cross)[0])
        if first is not None and len(first) != len(outputs.sequences):
            raise InputError(
                f"There are {len(outputs.sequences)} sequences and {len(first)} rows of attention: "
                f"give the outputs with their beam_indices, from generate with output_scores=True."
            )
        return [number] * count
    if number >= len(outputs.beams):
        raise InputError("There are fewer rows of beam_indices than sequences: give both whole.")
    return [row for row in outputs.beams[number] if row >= 0][:count]


def _rows(layers: Layers, row: int, kind: Kind) -> Rows:
    return [
        None if layer is None else row_of(layer, row, f"{KIND_TITLES[kind]} of layer {number}")
        for number, layer in enumerate(layers, start=1)
    ]


def _cut(layer: Weights | None, rows: Keep | None, keys: Keep | None) -> Weights | None:
    """Remove the padding of the two axes of `[head, query, key]`."""
    if layer is None:
        return None
    for axis, keep in ((1, rows), (2, keys)):
        if keep is None:
            continue
        if len(keep) != layer.shape[axis]:
            raise InputError(
                f"The attention mask has {len(keep)} positions and the weights "
                f"{layer.shape[axis]}: give the mask that the model was given."
            )
        layer = np.compress(keep, layer, axis=axis)
    return layer


def _without_padding(texts: Texts | None, mask: Keep | None, side: str) -> Texts | None:
    if texts is None or mask is None or len(texts) == mask.sum():
        return texts
    if len(texts) != len(mask):
        raise InputError(
            f"There are {len(texts)} tokens of the {side} and {len(mask)} positions in its mask: "
            f"give as many of both."
        )
    return tuple(text for text, keep in zip(texts, mask, strict=True) if keep)
