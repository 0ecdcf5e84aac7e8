"""Outputs of the library transformers as a trace; that library is never imported here."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from transformer.errors import InputError, quoted
from transformer.kinds import KINDS, Kind
from transformer.traces.fields import TraceFields, Weights
from transformer.traces.from_arrays import TraceOptions, fields_of_arrays, not_weights, shape_of
from transformer.traces.from_huggingface.inputs import INVERTED, ModelInputs, is_inputs
from transformer.traces.from_huggingface.outputs import (
    NONE_THERE,
    NOT_TOKENS,
    Keep,
    Layers,
    Outputs,
    first_layer,
    read,
    row_of,
    shape_of_layer,
    windowed,
)
from transformer.traces.from_huggingface.steps import (
    cross_attention,
    prompt_length,
    require_own_rows,
    self_attention,
)

Texts = tuple[str, ...]

Rows = list[Weights | None]
"""The layers of one sentence, `[head, query, key]` each; None for one without weights."""


def fields_of_outputs(outputs: Any, options: TraceOptions) -> TraceFields:
    """Make the fields of `AttentionTrace.from_huggingface`."""
    attentions = read(outputs, options.layers)
    inputs = ModelInputs(options, attentions)
    kinds = options.kinds
    wanted = _wanted(kinds)
    if attentions.single:
        sides = _single(attentions, inputs, wanted)
    else:
        sides = _Sides()
        if attentions.decoder or attentions.cross:
            _decoder(attentions, inputs, wanted, sides)
        if attentions.encoder or attentions.cross:
            _source(attentions, inputs, wanted, sides)
    _require_there(kinds, attentions, sides)
    made = fields_of_arrays(
        {kind: layers for kind, layers in sides.layers.items() if kind in wanted},
        replace(
            options,
            tokens=sides.source,
            target_tokens=sides.writes,
            decoder_tokens=sides.reads,
            second_start=inputs.second_start("encoder_self" in sides.layers),
        ),
        inputs.vocabulary,
    )
    fused = (
        f"There is no {stack} self-attention: it was computed fused, which keeps no weights."
        for stack in attentions.fused
        if f"{stack}_self" in wanted
    )
    return replace(made, notes=(*made.notes, *fused, *sides.notes))


@dataclass
class _Sides:
    """The layers of each kind, and the tokens of both sides, without padding."""

    layers: dict[Kind, Rows] = field(default_factory=dict)
    source: Texts | None = None
    reads: Texts | None = None
    writes: Texts | None = None
    notes: list[str] = field(default_factory=list)


def _wanted(kinds: Any) -> Collection[Kind]:
    if kinds is None:
        return KINDS
    known = isinstance(kinds, Collection) and all(kind in KINDS for kind in kinds)
    if not known or not kinds or isinstance(kinds, str):
        raise InputError(
            f"There are no kinds of attention {quoted(kinds)}: give a list of {', '.join(KINDS)}."
        )
    checked: Collection[Kind] = kinds
    return checked


def _require_there(kinds: Collection[Kind] | None, outputs: Outputs, sides: _Sides) -> None:
    """Raise InputError if a kind that was asked for is not there; notes say what was fused."""
    stacks = zip(KINDS, (outputs.encoder, outputs.decoder, outputs.cross), strict=True)
    there = [*sides.layers] if outputs.single else [kind for kind, layers in stacks if layers]
    absent = [kind for kind in kinds or () if kind not in there]
    if all(kind.removesuffix("_self") in outputs.fused for kind in absent):
        if absent and len(absent) == len(kinds or ()):
            raise InputError(NONE_THERE)
        return
    raise InputError(
        f"These outputs hold no weights of {', '.join(absent)}: choose of {', '.join(there)}."
    )


def _single(outputs: Outputs, inputs: ModelInputs, wanted: Collection[Kind]) -> _Sides:
    """Read a model of one stack: an encoder, or a decoder, which may read all tokens as a whole."""
    notes = []
    writes, mask = inputs.written(inputs.mask)
    layers = _rows(_token_layers(outputs.single, inputs), inputs, "self-attention")
    weights = [layer if layer is None or not_weights(layer) is None else None for layer in layers]
    if inputs.options.normalized and any(layer is not None for layer in weights):
        layers = weights
    pairs = enumerate(zip(outputs.single, layers, strict=True), start=1)
    if left_out := [str(n) for n, (given, shown) in pairs if given is not None and shown is None]:
        notes.append(
            f"Layers that look at blocks, and not at single tokens, are left out: "
            f"{', '.join(left_out)}."
        )
    if windowed([layer for layer in layers if layer is not None], mask):
        raise InputError(NOT_TOKENS)
    layers = [_cut(layer, mask, mask) for layer in layers]
    decodes = _looks_back(layers) or {*wanted} == {"decoder_self"}
    texts = inputs.texts(inputs.ids, "decoder" if decodes else "source", mask)
    if texts is not None:
        texts = _without_padding(texts, mask, "source")
    if writes is not None:
        writes = _without_padding(writes, mask, "target")
    if writes is None and not decodes:
        return _Sides({"encoder_self": layers}, source=texts, notes=notes)
    if outputs.layer_count > len(layers):
        notes.append(
            f"The model has {outputs.layer_count} layers, and {len(layers)} have weights, which "
            f"are numbered from 1: give their own numbers as layers=."
        )
    return _Sides({"decoder_self": layers}, reads=texts, writes=writes, notes=notes)


def _token_layers(layers: Layers, inputs: ModelInputs) -> Layers:
    """Leave out the layers that have not a row and a column for each token; None in their place.

    Funnel pools its tokens, Swin looks in windows of an image, MiniMax in blocks.
    """
    shapes = [
        None if layer is None else shape_of_layer(layer, f"self-attention of layer {number}")
        for number, layer in enumerate(layers, start=1)
    ]
    places = {(shape[0], *shape[2:]) for shape in shapes if shape is not None}
    squares = [rows for batch, rows, keys in places if batch == inputs.count and rows == keys]
    if len(places) == len(squares) == 1:
        return layers  # of another number of tokens than were given, as will be said
    tokens = inputs.length or max(squares, default=0)
    axes = (inputs.count, tokens, tokens)
    fitting = [
        None if shape is None or (shape[0], *shape[2:]) != axes else layer
        for layer, shape in zip(layers, shapes, strict=True)
    ]
    if first_layer(fitting) is None:
        raise InputError(NOT_TOKENS)
    return fitting


def _looks_back(layers: Rows) -> bool:
    """Return whether those before some position see neither it nor what follows.

    In a decoder each is such a position, or the first behind what it reads as a whole. What follows
    sees what stands before, unlike a second text in a row, and itself, unlike padding.
    """
    seen = np.any([layer.any(0) for layer in layers if layer is not None], axis=0)
    if not np.triu(seen, 1).any():
        return True
    places = np.arange(len(seen))
    first = np.where(seen, places, len(seen)).min(1)  # that each row sees
    last = np.where(seen, places, -1).max(1)
    unseen = np.maximum.accumulate(last)[:-1] < places[1:]
    looked_back = np.minimum.accumulate(first[::-1])[::-1][1:] < places[1:]
    return bool((unseen & looked_back & seen.diagonal()[1:]).any())


def _source(outputs: Outputs, inputs: ModelInputs, wanted: Collection[Kind], sides: _Sides) -> None:
    """Read the encoder's side: its own attention, and the keys of cross-attention."""
    mask = inputs.mask
    texts = inputs.texts(inputs.ids, "source", mask)
    sides.source = None if texts is None else _without_padding(texts, mask, "source")
    if outputs.encoder and "encoder_self" in wanted:
        layers = _encoder(outputs, inputs)
        if layers is not None:
            sides.layers["encoder_self"] = [_cut(layer, mask, mask) for layer in layers]
        elif not sides.layers:
            raise InputError(NOT_TOKENS)
        else:
            sides.notes.append(
                "There is no encoder self-attention: its weights have not a row and a column for "
                "each position of the source, as in an encoder that looks in windows or blocks."
            )
    if "cross" in sides.layers:
        sides.layers["cross"] = [_cut(layer, None, mask) for layer in sides.layers["cross"]]


def _encoder(outputs: Outputs, inputs: ModelInputs) -> Rows | None:
    """Read the encoder; None if it has not a row and a column for each position of the source."""
    layers = [layer for layer in outputs.encoder if layer is not None]
    if not all(hasattr(layer, "shape") for layer in layers):
        return None
    shapes = {(shape[0], *shape[2:]) for shape in (shape_of(layer, "encoder") for layer in layers)}
    if len(shapes) != 1 or any(len(layer.shape) != 4 for layer in layers):
        return None
    ((batch, rows, columns),) = shapes
    crossed = first_layer(outputs.cross[0]) if outputs.cross else None
    keys = columns if crossed is None else shape_of(crossed, "cross-attention")[-1]
    if rows != columns or rows != keys or not batch or inputs.count % batch:
        return None
    read_rows: Rows = [
        None if layer is None else row_of(layer, inputs.row(batch), f"encoder layer {number}")
        for number, layer in enumerate(outputs.encoder, start=1)
    ]
    in_window = windowed([layer for layer in read_rows if layer is not None], inputs.mask)
    return None if in_window else read_rows


def _decoder(
    outputs: Outputs, inputs: ModelInputs, wanted: Collection[Kind], sides: _Sides
) -> None:
    """Read the decoder's side: its own attention, and the rows of cross-attention."""
    if outputs.sequences is None:
        writes, mask = inputs.written(inputs.decoder_mask)
        layers: dict[Kind, Rows] = {}
        if outputs.decoder and "decoder_self" in wanted:
            layers["decoder_self"] = _rows(outputs.decoder[0], inputs, "decoder self-attention")
        if outputs.cross and "cross" in wanted:
            layers["cross"] = [
                None if layer is None else layer[:, : layer.shape[1] // outputs.streams]
                for layer in _rows(outputs.cross[0], inputs, "cross-attention")
            ]
        reads = inputs.texts(inputs.decoder_ids, "decoder", mask)
    else:
        mask, layers, reads, writes = _generated(outputs, inputs, wanted)
    if reads is None and writes is not None and "decoder_self" in layers:
        raise InputError(
            "The labels are what the decoder writes, and not what it reads: give as decoder_tokens "
            "model.prepare_decoder_input_ids_from_labels(labels), or kinds=['cross']."
        )
    sides.reads = None if reads is None else _without_padding(reads, mask, "decoder")
    sides.writes = None if writes is None else _without_padding(writes, mask, "target")
    for kind, maps in layers.items():
        keys = mask if kind == "decoder_self" else None
        sides.layers[kind] = [_cut(layer, mask, keys) for layer in maps]
    if "cross" in layers and outputs.streams > 1:
        sides.notes.append(
            f"Cross-attention has {outputs.streams} rows for each token: those of the main stream "
            f"are shown, without those that look for the tokens to come."
        )


def _generated(
    outputs: Outputs, inputs: ModelInputs, wanted: Collection[Kind]
) -> tuple[Keep | None, dict[Kind, Rows], Texts, Texts]:
    """Read the steps of `generate`; a position reads a token and writes the next one."""
    assert outputs.sequences is not None
    number, sequence = inputs.number, outputs.sequences[inputs.number]
    every = outputs.decoder or outputs.cross
    title = "decoder self-attention" if outputs.decoder else "cross-attention"
    rows = _rows_of_steps(outputs, number, len(every))
    prompt = prompt_length(every, rows, title)
    require_own_rows(every, rows, title)
    alone = outputs.one_stack  # a decoder without an encoder
    named = inputs.decoder_ids
    if (
        named is None
        and alone
        and not is_inputs(inputs.options.tokens)
        and _are_texts(inputs.options.tokens)
    ):
        named = inputs.options.tokens
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
    rows = rows[: len(texts) - prompt]
    mask = inputs.mask if alone else inputs.decoder_mask
    if mask is not None:
        if not alone and len(mask) == prompt - 1:  # before it generate puts its start token
            mask = np.concatenate([[True], mask])
        mask = mask[:prompt]
        if len(mask) != prompt:
            raise InputError(
                f"The attention mask has {len(mask)} positions, and the model read {prompt} tokens "
                f"in its first step: give the mask of the prompt."
            )
    layers: dict[Kind, Rows] = {}
    if outputs.decoder and "decoder_self" in wanted:
        title = "decoder self-attention"
        layers["decoder_self"] = self_attention(outputs.decoder, rows, mask, title)
    if outputs.cross and "cross" in wanted:
        layers["cross"] = cross_attention(outputs.cross, rows, "cross-attention", outputs.streams)
    if mask is not None:
        mask = np.concatenate([mask, np.ones(len(rows) - 1, bool)])
    return mask, layers, texts[:-1], texts[1:]


def _rows_of_steps(outputs: Outputs, number: int, count: int) -> list[int]:
    """Return the row of a sequence in each step's batch, in which a beam search reorders them."""
    assert outputs.sequences is not None
    first = first_layer((outputs.decoder or outputs.cross)[0])
    size = 0 if first is None else len(first)  # `steps` refuses a step without a layer
    if outputs.beams is None:
        if first is not None and size != len(outputs.sequences):
            raise InputError(
                f"There are {len(outputs.sequences)} sequences and {size} rows of attention: give "
                f"the outputs with their beam_indices, from generate with output_scores=True."
            )
        return [number] * count
    if number >= len(outputs.beams):
        raise InputError("There are fewer rows of beam_indices than sequences: give both whole.")
    rows = [row for row in outputs.beams[number] if row >= 0][:count]
    if first is not None and max(rows, default=0) >= size:
        raise InputError(
            f"The sequence came through row {max(rows)} of the beam, and the outputs hold {size} "
            f"of its rows, as Whisper's do: call the model once more with the sequence as "
            f"decoder_input_ids, and give what it returns."
        )
    return rows


def _rows(layers: Layers, inputs: ModelInputs, title: str) -> Rows:
    return [
        None if layer is None else row_of(layer, inputs.number, f"{title} of layer {number}")
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
        if axis == 2 and layer.any() and not np.nan_to_num(layer[..., keep]).any():
            raise InputError(INVERTED)
        layer = np.compress(keep, layer, axis=axis)
    return layer


def _without_padding(texts: Texts, mask: Keep | None, side: str) -> Texts:
    if mask is None or len(texts) == mask.sum():
        return texts
    if len(texts) != len(mask):
        raise InputError(
            f"There are {len(texts)} tokens of the {side} and {len(mask)} positions in its mask: "
            f"give as many of both."
        )
    return tuple(text for text, keep in zip(texts, mask, strict=True) if keep)


def _are_texts(tokens: Any) -> bool:
    """Return whether these are tokens as texts, of one sentence or of a batch."""
    if not isinstance(tokens, Sequence) or isinstance(tokens, str) or not tokens:
        return False
    return isinstance(tokens[0], str) or _are_texts(tokens[0])
