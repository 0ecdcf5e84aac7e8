"""The attentions in a model's outputs, whatever form they came in."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from transformer.errors import InputError, quoted
from transformer.traces.fields import MAX_LAYERS, Weights
from transformer.traces.from_arrays import as_array, shape_of

Keep: TypeAlias = npt.NDArray[np.bool_]
"""The positions of a sentence that are no padding."""

Layers: TypeAlias = Sequence[Any]
"""A tensor `[batch, head, query, key]` of each layer; None for a layer without weights."""

NONE_THERE = (
    'The outputs hold no attention weights: call model.set_attn_implementation("eager"), since '
    "fused attention (sdpa, flash) keeps none, and the model with output_attentions=True; models "
    "that look at blocks (BigBird) or have no attention (FNet) keep none in any case."
)

NOT_TOKENS = (
    "These weights have not a row and a column for each token, as in a model that looks in windows "
    "or blocks, or goes on from a cache: give [batch, head, query, key] of the whole text."
)


@dataclass(frozen=True)
class Outputs:
    """The attentions that a forward pass or `generate` returned; () for those that it did not."""

    encoder: Layers = ()
    decoder: Sequence[Layers] = ()  # of each step of a generation; one step of a forward pass
    cross: Sequence[Layers] = ()  # likewise
    single: Layers = ()  # of a model with one stack, in a forward pass
    sequences: list[list[int]] | None = None  # `[sequence, token]` ids; not of a forward pass
    beams: list[list[int]] | None = None  # `[sequence, step]`, its row there, -1 after its end
    fused: tuple[str, ...] = ()  # stacks that kept no weights while another did
    one_stack: bool = False  # whether `decoder` is the generation of a model with one stack
    batch: int | None = None  # sentences, where the outputs say it beside the weights
    layer_count: int = 0  # of a model of one stack, where the outputs say it beside the weights

    @property
    def batch_size(self) -> int:
        """The number of sentences; the encoder's axis, which may count windows, comes last."""
        if self.sequences is not None:
            return len(self.sequences)
        if self.batch is not None and self.single:
            return self.batch
        if len({len(layer) for layer in self.single if layer is not None}) > 1:
            raise InputError(NOT_TOKENS)
        every = (*self.decoder, *self.cross, self.encoder, self.single)
        first = next(first_layer(layers) for layers in every if layers)
        return shape_of_layer(first, "attention of the first layer")[0]

    @property
    def streams(self) -> int:
        """The rows of cross-attention for each token, as ProphetNet has several; 1 is usual."""
        if not self.decoder or not self.cross:
            return 1
        own, cross = (shape_of(first_layer(steps[0]), "") for steps in (self.decoder, self.cross))
        even = len(own) == len(cross) == 4 and own[2] > 0 and cross[2] % own[2] == 0
        return max(1, cross[2] // own[2]) if even else 1

    def numbered(self, numbers: Sequence[int]) -> "Outputs":
        """Put the layers of each stack at these numbers, from 0, with None between them."""

        def placed(layers: Layers) -> Layers:
            there = [layer for layer in layers if layer is not None]
            if there and len(there) != len(numbers):
                raise InputError(
                    f"layers={quoted([*numbers])} are other layers than the {len(there)} that have "
                    f"weights: give a number for each, from 0."
                )
            by_number = dict(zip(numbers, there, strict=False))
            return [by_number.get(number) for number in range(numbers[-1] + 1)] if there else ()

        return replace(
            self,
            encoder=placed(self.encoder),
            decoder=[*map(placed, self.decoder)],
            cross=[*map(placed, self.cross)],
            single=placed(self.single),
            layer_count=0,
        )


def read(outputs: Any, numbers: Any = None) -> Outputs:
    """Find the attentions by their names or places, of the layers in `numbers` or the cache."""
    attentions = _read(outputs)
    if attentions is None:
        deeper = [*_deeper(outputs)]
        if len(deeper) > 1:
            paths = ", ".join(f"outputs{path}" for path, _ in deeper[:4])
            raise InputError(
                f"The attention weights lie deeper, in {len(deeper)} places: give one of them in "
                f"place of the outputs, {paths}{', …' if len(deeper) > 4 else ''}."
            )
        if not deeper:
            raise InputError(_why_none(outputs))
        ((_, attentions),) = deeper
    if numbers is not None:
        return attentions.numbered(_checked_numbers(numbers))
    cached = _cached_layers(outputs) if attentions.single or attentions.one_stack else []
    layers = attentions.single or (attentions.decoder[0] if attentions.one_stack else ())
    if len(cached) > len(layers) == sum(cached):
        return attentions.numbered([number for number, has_keys in enumerate(cached) if has_keys])
    return replace(attentions, layer_count=max(len(cached), attentions.layer_count))


def _why_none(outputs: Any) -> str:
    """Write the sentence on outputs without attention weights."""
    members = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    shapes = [tuple(getattr(member, "shape", ())) for member in members]
    if shapes and all(len(shape) == 3 and shape[1] == shape[2] for shape in shapes):
        return (
            f"These are arrays of 3 axes, {[*shapes[0]]}, as averaged over the heads: give [batch, "
            f"head, query, key] of each layer, in torch with average_attn_weights=False."
        )
    if hasattr(outputs, "shape"):
        return (
            f"This is one array, {[*outputs.shape]}: give a list with [batch, head, query, key] of "
            f"each layer, or [layer, head, query, key] of one sentence to from_arrays."
        )
    plain = type(outputs) in (dict, list, tuple)
    if not plain and not any(hasattr(outputs, name) for name in _ATTENTIONS):
        return (
            f"A {type(outputs).__name__} has no field of attention weights, as of a model without "
            f"attention, such as Mamba: give the outputs of one that has it."
        )
    return NONE_THERE


def _read(outputs: Any) -> Outputs | None:
    if isinstance(outputs, (list, tuple)) and not hasattr(outputs, "_fields"):
        attentions = _from_tuple(outputs)
    else:
        attentions = _from_fields(outputs)
    every = (attentions.encoder, attentions.decoder, attentions.cross, attentions.single)
    return attentions if any(every) else None


def _deeper(outputs: Any, path: str = "", depth: int = 4) -> Iterator[tuple[str, Outputs]]:
    """Yield outputs within outputs, each with its path, such as `.text_model_output`.

    CLIP has those of two models; Whisper's long form has one for each segment of each recording.
    """
    if isinstance(outputs, (list, tuple)):
        members = [(f"[{number}]", member) for number, member in enumerate(outputs)]
    else:
        plain = type(outputs) is dict  # the members of a ModelOutput are attributes
        fields = outputs if isinstance(outputs, Mapping) else getattr(outputs, "__dict__", {})
        members = [(f"[{k!r}]" if plain else f".{k}", member) for k, member in fields.items()]
    for step, member in members:
        if isinstance(member, (list, tuple)):
            groups = [member] if "attention" in step else member
            squares = [group for group in groups if _are_layers(group) and _are_square(group)]
            attentions = Outputs(single=squares[0]) if len(squares) == 1 else None
        elif isinstance(member, Mapping) or any(hasattr(member, name) for name in _ATTENTIONS):
            attentions = _read(member)
        else:
            continue
        if attentions is not None:
            yield path + step, attentions
        elif depth:
            yield from _deeper(member, path + step, depth - 1)


def _checked_numbers(numbers: Any) -> list[int]:
    listed = [*numbers] if isinstance(numbers, Iterable) and not isinstance(numbers, str) else []
    whole = all(isinstance(n, (int, np.integer)) and 0 <= n < MAX_LAYERS for n in listed)
    if not listed or not whole or listed != sorted({*listed}):
        raise InputError(
            f"layers={quoted(numbers)} are no numbers of layers: give those that have weights, "
            f"from 0 and rising, such as [1, 3]."
        )
    return [int(n) for n in listed]


def _cached_layers(outputs: Any) -> list[bool]:
    """Return whether each layer of the cache holds keys, as those of Mamba do not."""
    fields = outputs if isinstance(outputs, Mapping) else getattr(outputs, "__dict__", {})
    members = outputs if isinstance(outputs, (list, tuple)) else fields.values()
    layers = next((member.layers for member in members if hasattr(member, "layers")), ())
    return [getattr(layer, "keys", None) is not None for layer in layers]


def first_layer(layers: Layers) -> Any:
    """Return the first layer that has weights; None if none has."""
    return next((layer for layer in layers if layer is not None), None)


def windowed(layers: Sequence[Weights], keep: Keep | None) -> bool:
    """Return whether the columns are offsets in a window, as many as there are tokens by chance.

    Longformer and LED have columns of tokens that all look at, and then a column for each offset:
    those that lie before the text or behind it are 0, and each row looks at itself in the middle.
    """
    seen = np.any([layer.any(0) for layer in layers], axis=0)  # [query, key]
    size = len(seen)
    looks = seen.any(-1) & (True if keep is None or len(keep) != size else keep)
    for first in range(size - 2):
        reach, odd = divmod(size - first - 1, 2)
        own = seen[looks, first + reach]
        if odd or seen[0, first] or seen[-1, -1] or not len(own) or not own.all():
            continue
        places = np.arange(size)[:, None] + np.arange(-reach, reach + 1)
        if not seen[:, first:][(places < 0) | (places >= size)].any():
            return True
    return False


def row_of(layer: Any, row: int, name: str) -> Weights:
    """Return one sentence of a batch, `[head, query, key]`."""
    sentences = shape_of_layer(layer, name)[0]
    if row >= sentences:
        raise InputError(
            f"The {name} is of {sentences} sentences, and number {row} was to be read, counted "
            f"from 0: give the outputs and the tokens of one batch."
        )
    return as_array(layer[row], name)


def shape_of_layer(layer: Any, name: str) -> tuple[int, ...]:
    """Return the shape `[batch, head, query, key]`."""
    if layer is None:
        raise InputError(NONE_THERE)
    shape = shape_of(layer, name)
    if len(shape) != 4:
        raise InputError(
            f"The {name} has {len(shape)} axes, {[*shape]}, and not 4: attention can be shown "
            f"that is [batch, head, query, key], and not that over blocks of tokens."
        )
    return shape


def _from_fields(outputs: Any) -> Outputs:
    fields = {name: _field(outputs, name) for name in (*_ATTENTIONS, "sequences", "beam_indices")}
    layers = {name: _sequence(fields[name]) for name in _ATTENTIONS}
    fused = tuple(
        stack
        for stack in ("encoder", "decoder")
        if fields[f"{stack}_attentions"] is not None and not layers[f"{stack}_attentions"]
    )
    single, decoder = layers["attentions"], layers["decoder_attentions"]
    cross = layers["cross_attentions"]
    if fields["sequences"] is not None:
        encoder, own = layers["encoder_attentions"], decoder or single
        if all(isinstance(id_, int) for id_ in _plain(fields["sequences"])):  # a Whisper segment
            encoder = _in_batch(encoder)
            own, cross = [*map(_in_batch, own)], [*map(_in_batch, cross)]
        return Outputs(
            encoder=encoder,
            decoder=own,
            cross=cross,
            sequences=rows_of_ids(fields["sequences"], "sequences"),
            beams=None
            if fields["beam_indices"] is None
            else rows_of_ids(fields["beam_indices"], "beam_indices"),
            fused=fused,
            one_stack=not (decoder or cross or encoder),
        )
    if cross and not decoder:  # a decoder that was given the encoder's output
        decoder, single = single, ()
    return Outputs(
        encoder=layers["encoder_attentions"],
        decoder=(decoder,) if decoder else (),
        cross=(cross,) if cross else (),
        single=single,
        fused=fused,
        batch=(*getattr(_field(outputs, "last_hidden_state"), "shape", ()), None)[0],
        layer_count=len(_field(outputs, "hidden_states") or ()) - 1,
    )


_ATTENTIONS = ("encoder_attentions", "decoder_attentions", "cross_attentions", "attentions")


def _field(outputs: Any, name: str) -> Any:
    return outputs.get(name) if isinstance(outputs, Mapping) else getattr(outputs, name, None)


def _in_batch(layers: Any) -> Any:
    """Give layers that have no axis of a batch one of length 1."""
    if not isinstance(layers, (list, tuple)):
        return layers
    return [layer[None] if len(getattr(layer, "shape", ())) == 3 else layer for layer in layers]


def _from_tuple(outputs: Sequence[Any]) -> Outputs:
    """Find the attentions of a tuple in the library's one order: decoder, cross, encoder."""
    if _are_layers(outputs):
        return Outputs(single=outputs)
    groups = [member for member in outputs if _are_layers(member)]
    if len(groups) == 1:
        return Outputs(single=groups[0])
    if len(groups) == 2:
        return Outputs(decoder=(groups[0],), cross=(groups[1],))
    if len(groups) == 3:
        return Outputs(encoder=groups[2], decoder=(groups[0],), cross=(groups[1],))
    if not groups:
        return Outputs()
    raise InputError(
        f"There are {len(groups)} groups of attentions in this tuple: call the model with "
        f"return_dict=True, so that they have names."
    )


def _are_layers(member: Any) -> bool:
    return (
        isinstance(member, (list, tuple))
        and not _is_absent(member)
        and all(layer is None or len(getattr(layer, "shape", ())) == 4 for layer in member)
    )


def _are_square(layers: Layers) -> bool:
    """Return whether rows are as many as columns: not so of the keys and values of a cache."""
    return all(layer is None or layer.shape[2] == layer.shape[3] for layer in layers)


def _sequence(field: Any) -> Sequence[Any]:
    """List the members of a field; none where it is absent, or every layer in it is."""
    if field is not None and not isinstance(field, Iterable):
        raise InputError(f"The attentions are {quoted(field)}: give the outputs of a model.")
    members = () if field is None else tuple(field)
    return () if all(map(_is_absent, members)) else members


def _is_absent(member: Any) -> bool:
    """Return whether a layer, or a step with all its layers, is absent."""
    return member is None or (isinstance(member, (list, tuple)) and all(map(_is_absent, member)))


def rows_of_ids(ids: Any, name: str) -> list[list[int]]:
    """Convert a tensor, array or lists to rows of ids, `[row, token]`; a flat list is one row."""
    listed = _plain(ids)
    rows = [*listed] if isinstance(listed, Iterable) and not isinstance(listed, str) else []
    rows = [_plain(row) for row in rows]
    rows = rows if all(isinstance(row, (list, tuple)) for row in rows) else [rows]
    rows = [[_plain(n) for n in row] for row in rows]
    if not rows or not all(isinstance(n, int) for row in rows for n in row):
        raise InputError(f"The {name} are no rows of whole numbers: give token ids.")
    return rows


def _plain(value: Any) -> Any:
    """Convert a tensor or an array to lists or a number; leave anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value
