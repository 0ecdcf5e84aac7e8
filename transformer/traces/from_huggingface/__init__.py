"""Outputs of the library transformers as a trace; that library is never imported here."""

from collections.abc import Collection, Iterator, Sequence
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
    _layer(every, 0, 0, title)  # there is one
    prompt = row_of(first_layer(every[0]), rows[0], f"{title} in step 1").shape[1]
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
        layers["decoder_self"] = _self_attention(outputs.decoder, rows, prompt, mask, title)
    if outputs.cross and "cross" in wanted:
        layers["cross"] = _cross_attention(outputs.cross, rows, KIND_TITLES["cross"])
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


def _self_attention(
    steps: Sequence[Layers], rows: Sequence[int], prompt: int, mask: Keep | None, title: str
) -> Rows:
    """Join the decoder's self-attention over all read positions, `[head, query, query]` each.

    The first step has a row for each token of the prompt, a later one for its own token, or without
    a cache for all. `rows` are those of each step's batch; `mask` marks the prompt's tokens.
    """
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


def _cross_attention(steps: Sequence[Layers], rows: Sequence[int], title: str) -> Rows:
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
