"""The attentions in a model's outputs, by the names that the library gives them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from transformer.errors import InputError, quoted
from transformer.traces import fields, from_arrays

Keep: TypeAlias = npt.NDArray[np.bool_]  # the positions of a sentence that are no padding

Layers: TypeAlias = Sequence[Any]
"""A tensor `[batch, head, query, key]` of each layer; None for a layer without weights."""

Rows: TypeAlias = list[fields.Weights | None]
"""The layers of one sentence, `[head, query, key]` each; None for one without weights."""

_OTHERWISE = (
    "pass return_dict=True and a model whose attentions are [batch, head, query, key], or use "
    "from_arrays"
)
NONE_THERE = (
    'The outputs hold no attention weights by name: call model.set_attn_implementation("eager"), '
    "since fused attention (sdpa, flash) keeps none, and the model with output_attentions=True; "
    f"{_OTHERWISE}."
)


@dataclass(frozen=True)
class Outputs:
    """The attentions that a forward pass or `generate` returned; () for those that it did not."""

    encoder: Layers
    decoder: Sequence[Layers]  # of each step of a generation; one step of a forward pass
    cross: Sequence[Layers]  # likewise
    sequences: list[list[Any]] | None  # `[sequence, token]` ids; None of a forward pass
    beams: list[list[Any]] | None  # `[sequence, step]`, its row there, -1 after its end
    one_stack: bool  # whether `decoder` is the only stack of the model, be it an encoder

    @property
    def batch_size(self) -> int:
        """The number of sentences, or of sequences that were generated."""
        if self.sequences is not None:
            return len(self.sequences)
        first = first_layer(next(layers for layers in (*self.decoder, *self.cross, self.encoder)))
        return shape_of_layer(first, "attention of the first layer")[0]


def read(outputs: Any) -> Outputs:
    """Find the attentions by their names; a list of layers alone is that of a model's one stack."""
    if isinstance(outputs, (list, tuple)) and not hasattr(outputs, "_fields"):
        alone = all(layer is None or len(getattr(layer, "shape", ())) == 4 for layer in outputs)
        outputs = {"attentions": outputs if alone else None}
    encoder, decoder, cross, single = (
        _layers(_field(outputs, name))
        for name in ("encoder_attentions", "decoder_attentions", "cross_attentions", "attentions")
    )
    own = decoder or single  # a decoder that was given the encoder's output has `attentions`
    if not (encoder or own or cross):
        raise InputError(NONE_THERE)
    sequences, beams = _field(outputs, "sequences"), _field(outputs, "beam_indices")
    generated = sequences is not None
    return Outputs(
        encoder=encoder,
        decoder=own if generated or not own else (own,),
        cross=cross if generated or not cross else (cross,),
        sequences=rows_of(sequences, "sequences") if generated else None,
        beams=None if beams is None else rows_of(beams, "beam_indices"),
        one_stack=bool(single) and not (encoder or decoder or cross),
    )


def _field(outputs: Any, name: str) -> Any:
    return outputs.get(name) if isinstance(outputs, Mapping) else getattr(outputs, name, None)


def _layers(field: Any) -> Sequence[Any]:
    """List the members of a field; none where it is absent, or every layer in it is."""
    if field is not None and not isinstance(field, Iterable):
        raise InputError(f"The attentions are {quoted(field)}: give the outputs of a model.")
    members = () if field is None else tuple(field)
    return () if all(map(_is_absent, members)) else members


def _is_absent(member: Any) -> bool:
    """Return whether a layer, or a step with all its layers, is absent."""
    return member is None or (isinstance(member, (list, tuple)) and all(map(_is_absent, member)))


def first_layer(layers: Layers) -> Any:
    """Return the first layer that has weights; None if none has."""
    return next((layer for layer in layers if layer is not None), None)


def row_of(layer: Any, row: int, name: str) -> fields.Weights:
    """Return one sentence of a batch, `[head, query, key]`."""
    sentences = shape_of_layer(layer, name)[0]
    if row >= sentences:
        raise InputError(
            f"The {name} is of {sentences} sentences, and number {row} was to be read, counted "
            f"from 0: give the outputs and the tokens of one batch."
        )
    return from_arrays.as_array(layer[row], name)


def shape_of_layer(layer: Any, name: str) -> tuple[int, ...]:
    """Return the shape `[batch, head, query, key]`."""
    if layer is None:
        raise InputError(NONE_THERE)
    shape = tuple(getattr(layer, "shape", ()))
    if len(shape) != 4:
        raise InputError(f"The {name} has {len(shape)} axes, {[*shape]}, and not 4: {_OTHERWISE}.")
    return shape


def rows_of(values: Any, name: str) -> list[list[Any]]:
    """Convert a tensor, array or lists to rows of numbers or texts; a flat list is one row."""
    listed = _plain(values)
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        raise InputError(f"The {name} are {quoted(values)}: give a list, or one for each sentence.")
    members = [_plain(member) for member in listed]
    nested = bool(members) and all(isinstance(member, (list, tuple)) for member in members)
    return [[_plain(item) for item in row] for row in (members if nested else [members])]


def _plain(value: Any) -> Any:
    """Convert a tensor or an array to lists or a number; leave anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value
