"""The attentions in a model's outputs, by the names that the library gives them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, TypeAlias

import numpy as np

from transformer.arrays import Singles
from transformer.errors import InputError, quoted
from transformer.traces import from_arrays

Layers: TypeAlias = Sequence[Any]
"""A tensor `[batch, head, query, key]` of each layer; None for a layer without weights."""

Rows: TypeAlias = list[Singles | None]
"""The layers of one sentence, `[head, query, key]` each; None for one without weights."""

_NAMES = "encoder_attentions", "decoder_attentions", "cross_attentions", "attentions"

NONE_THERE = (
    'The outputs hold no attention weights: call model.set_attn_implementation("eager"), since '
    "fused attention (sdpa, flash) keeps none, and the model with output_attentions=True; models "
    "that look at blocks (BigBird) or have no attention (FNet, Mamba) keep none in any case."
)
NOT_TOKENS = (
    "There is not a row and a column for each token, as where a model looks in windows or blocks, "
    "or goes on from a cache: give [batch, head, query, key] of the whole text, or parts of it to "
    "from_arrays."
)


@dataclass(frozen=True)
class Outputs:
    """The attentions that a forward pass or `generate` returned; () for those that it did not."""

    encoder: Layers
    decoder: Sequence[Layers]  # of each step of a generation; one step of a forward pass
    cross: Sequence[Layers]  # likewise
    sequences: list[list[Any]] | None  # `[sequence, token]` ids; None of a forward pass
    beams: list[list[Any]] | None  # `[sequence, step]`, its row there, -1 after its end
    one_stack: bool  # whether the model has a single stack, be it an encoder
    notes: tuple[str, ...]  # on weights that were not kept

    @property
    def batch_size(self) -> int:
        """The number of sentences, or of sequences that were generated."""
        if self.sequences is not None:
            return len(self.sequences)
        layers = next(layers for layers in (*self.decoder, *self.cross, self.encoder) if layers)
        numbered = [(n, layer) for n, layer in enumerate(layers, start=1) if layer is not None]
        sizes = {shape_of_layer(layer, f"attention of layer {n}")[0] for n, layer in numbered}
        if len(sizes) != 1:  # several count windows
            raise InputError(NOT_TOKENS if sizes else NONE_THERE)
        return sizes.pop()


def read(outputs: Any) -> Outputs:
    """Find the attentions by their names; a list of layers alone is that of a model's one stack."""
    if isinstance(outputs, np.ndarray) and outputs.dtype == object:
        outputs = outputs.tolist()
    attentions = _read({"attentions": outputs} if _are_layers(outputs) else outputs)
    if attentions is not None:
        return attentions
    deeper = dict(_deeper(outputs))
    if len(deeper) == 1:
        return deeper.popitem()[1]
    if deeper:
        paths = ", ".join(f"outputs{path}" for path in [*deeper][:4])
        raise InputError(
            f"The attention weights lie deeper, in {len(deeper)} places: give one of them in place "
            f"of the outputs, {paths}{', …' if len(deeper) > 4 else ''}."
        )
    if isinstance(outputs, (list, tuple)) or hasattr(outputs, "shape"):
        raise InputError(
            f"A {type(outputs).__name__} does not name its attentions: give the outputs as a whole "
            f"(return_dict=True, of generate return_dict_in_generate=True), a list of [batch, "
            f"head, query, key] for each layer, or one array for a sentence to from_arrays."
        )
    raise InputError(NONE_THERE)


def _read(outputs: Any) -> Outputs | None:
    encoder, decoder, cross, single = (_layers(field_of(outputs, name)) for name in _NAMES)
    own = decoder or single  # a decoder that was given the encoder's output has `attentions`
    if not (encoder or own or cross):
        return None
    sequences, beams = field_of(outputs, "sequences"), field_of(outputs, "beam_indices")
    generated = sequences is not None
    if generated:  # a segment of Whisper's long form has an encoder without the axis of a batch
        encoder = [e[None] if len(getattr(e, "shape", ())) == 3 else e for e in encoder]
    return Outputs(
        encoder=encoder,
        decoder=own if generated or not own else (own,),
        cross=cross if generated or not cross else (cross,),
        sequences=rows_of(sequences, "sequences") if generated else None,
        beams=None if beams is None else rows_of(beams, "beam_indices"),
        one_stack=bool(single) and not (encoder or decoder or cross),
        notes=tuple(
            f"There is no {stack} self-attention: it was computed fused, which keeps no weights."
            for stack, layers in (("encoder", encoder), ("decoder", decoder))
            if not layers and field_of(outputs, f"{stack}_attentions") is not None
        ),
    )


def field_of(outputs: Any, name: str) -> Any:
    """Return a field of a model's outputs, which are a mapping or an object; None if absent."""
    return outputs.get(name) if isinstance(outputs, Mapping) else getattr(outputs, name, None)


def _deeper(outputs: Any, path: str = "", depth: int = 3) -> Iterator[tuple[str, Outputs]]:
    """Yield outputs within outputs, of several models or segments, each with its path."""
    listed = isinstance(outputs, (list, tuple))
    named = outputs if isinstance(outputs, Mapping) else getattr(outputs, "__dict__", {})
    step = "{}[{!r}]" if listed or type(outputs) is dict else "{}.{}"  # as a ModelOutput has them
    for key, member in enumerate(outputs) if listed else named.items():
        if callable(member) or hasattr(member, "shape"):
            continue
        place = step.format(path, key)
        layers = "attention" in str(key) and _are_layers(member)
        if (attentions := _read({"attentions": member} if layers else member)) is not None:
            yield place, attentions
        elif depth:
            yield from _deeper(member, place, depth - 1)


def _are_layers(member: Any) -> bool:
    """Return whether these are tensors; None stands for a layer without weights."""
    return (
        isinstance(member, (list, tuple))
        and not _is_absent(member)
        and all(layer is None or hasattr(layer, "shape") for layer in member)
    )


def _layers(field: Any) -> Sequence[Any]:
    """List the members of a field; none where it is absent, or every layer in it is."""
    number = getattr(field, "shape", None) == () or not isinstance(field, (Iterable, NoneType))
    members = () if field is None or number else tuple(field)
    if number or any(isinstance(member, (bool, int, float, str)) for member in members):
        raise InputError(f"The attentions are {quoted(field)}: give the outputs of a model.")
    return () if all(map(_is_absent, members)) else members


def _is_absent(member: Any) -> bool:
    """Return whether a layer, or a step with all its layers, is absent."""
    return member is None or (isinstance(member, (list, tuple)) and all(map(_is_absent, member)))


def row_of(layer: Any, row: int, name: str) -> Singles:
    """Return one sentence of a batch, `[head, query, key]`."""
    sentences = shape_of_layer(layer, name)[0]
    if row >= sentences:
        raise InputError(
            f"The {name} is of {sentences} sentences, and number {row} was to be read, counted "
            f"from 0: give the outputs and the tokens of one batch, or, where generate returns a "
            f"part of a beam (Whisper), those of one more call with the sequence."
        )
    return from_arrays.as_array(layer[row], name)


def shape_of_layer(layer: Any, name: str) -> tuple[int, ...]:
    """Return the shape `[batch, head, query, key]`."""
    if layer is None:
        raise InputError(NONE_THERE)
    shape = tuple(getattr(layer, "shape", ()))
    if len(shape) != 4:
        raise InputError(
            f"The {name} has {len(shape)} axes, {[*shape]}, and not 4: give [batch, head, query, "
            f"key] of each layer, or use from_arrays."
        )
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
