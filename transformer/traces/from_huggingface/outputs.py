"""The attentions in a model's outputs, whatever form they came in, and the maps of their steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from transformer.errors import InputError, quoted
from transformer.traces.fields import Weights
from transformer.traces.from_arrays import as_array, shape_of

Keep: TypeAlias = npt.NDArray[np.bool_]
"""The positions of a sentence that are no padding."""

Layers: TypeAlias = Sequence[Any]
"""A tensor `[batch, head, query, key]` of each layer."""

NONE_THERE = (
    'The outputs hold no attention weights: load the model with attn_implementation="eager", since '
    "fused attention (sdpa, flash) keeps none, and call it with output_attentions=True."
)


@dataclass(frozen=True)
class Outputs:
    """The attentions that a forward pass or `generate` returned; () for those that it did not.

    Args:
        encoder: the layers of the encoder's self-attention.
        decoder: the layers of the decoder's self-attention, for each step of a generation; one step
            of a forward pass.
        cross: the layers of cross-attention, likewise.
        single: the layers of a model with one stack, in a forward pass.
        sequences: `[sequence, token]` ids that were generated, the prompt among them; None for a
            forward pass.
        beams: `[sequence, step]`, the row of each step that a sequence came through, -1 after its
            end; None without a beam.
        fused: stacks of an encoder-decoder that kept no weights while another did.
        one_stack: whether `decoder` is the generation of a model with one stack, by the name under
            which the weights came.
    """

    encoder: Layers = ()
    decoder: Sequence[Layers] = ()
    cross: Sequence[Layers] = ()
    single: Layers = ()
    sequences: list[list[int]] | None = None
    beams: list[list[int]] | None = None
    fused: tuple[str, ...] = ()
    one_stack: bool = False

    @property
    def batch_size(self) -> int:
        """The number of sentences, or of sequences that were generated."""
        if self.sequences is not None:
            return len(self.sequences)
        every = (self.encoder, *self.decoder, *self.cross, self.single)
        first = next(layers[0] for layers in every if layers)
        return _shape(first, "attention of the first layer")[0]


def read(outputs: Any) -> Outputs:
    """Find the attentions by their names, or in a tuple by their places.

    Raises:
        InputError: if there are none.
    """
    if isinstance(outputs, (list, tuple)) and not hasattr(outputs, "_fields"):
        attentions = _from_tuple(outputs)
    else:
        attentions = _from_fields(outputs)
    if not (attentions.encoder or attentions.decoder or attentions.cross or attentions.single):
        raise InputError(NONE_THERE)
    return attentions


def row_of(layer: Any, row: int, name: str) -> Weights:
    """Return one sentence of a batch, `[head, query, key]`.

    Raises:
        InputError: if this is no `[batch, head, query, key]`, or has no such row.
    """
    sentences = _shape(layer, name)[0]
    if row >= sentences:
        raise InputError(
            f"The {name} is of {sentences} sentences, and number {row} was to be read, counted "
            f"from 0: give the outputs and the tokens of one batch."
        )
    return as_array(layer[row], name)


def _shape(layer: Any, name: str) -> tuple[int, ...]:
    """Return the shape `[batch, head, query, key]`; raise InputError unless there are four axes."""
    if layer is None:
        raise InputError(NONE_THERE)
    shape = shape_of(layer, name)
    if len(shape) != 4:
        raise InputError(
            f"The {name} has {len(shape)} axes, {[*shape]}, and not 4: give the attentions as the "
            f"model returns them, [batch, head, query, key]."
        )
    return shape


def _from_fields(outputs: Any) -> Outputs:
    fields = {
        name: outputs.get(name) if isinstance(outputs, Mapping) else getattr(outputs, name, None)
        for name in (
            "encoder_attentions",
            "decoder_attentions",
            "cross_attentions",
            "attentions",
            "sequences",
            "beam_indices",
        )
    }
    layers = {name: _sequence(fields[name]) for name in fields if name.endswith("attentions")}
    fused = tuple(
        stack
        for stack in ("encoder", "decoder")
        if fields[f"{stack}_attentions"] is not None and not layers[f"{stack}_attentions"]
    )
    single, decoder = layers["attentions"], layers["decoder_attentions"]
    cross = layers["cross_attentions"]
    if fields["sequences"] is not None:
        return Outputs(
            encoder=layers["encoder_attentions"],
            decoder=decoder or single,
            cross=cross,
            sequences=rows_of_ids(fields["sequences"], "sequences"),
            beams=None
            if fields["beam_indices"] is None
            else rows_of_ids(fields["beam_indices"], "beam_indices"),
            fused=fused,
            one_stack=not (decoder or cross or layers["encoder_attentions"]),
        )
    if cross and not decoder:  # a decoder that was given the encoder's output
        decoder, single = single, ()
    return Outputs(
        encoder=layers["encoder_attentions"],
        decoder=(decoder,) if decoder else (),
        cross=(cross,) if cross else (),
        single=single,
        fused=fused,
    )


def _from_tuple(outputs: Sequence[Any]) -> Outputs:
    """Find the attentions of a tuple: its members that are tuples of `[batch, head, query, key]`.

    The library puts them in one order: decoder, cross, encoder.
    """
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
        and len(member) > 0
        and all(len(getattr(layer, "shape", ())) == 4 for layer in member)
    )


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
    """Convert a tensor, an array or lists to rows of ids, `[row, token]`; a flat list is one row.

    Raises:
        InputError: if these are no whole numbers.
    """
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


def self_attention(
    steps: Sequence[Layers], rows: Sequence[int], mask: Keep | None, title: str
) -> list[Weights]:
    """Join the decoder's self-attention over all read positions, `[head, query, query]` each.

    The first step has a row for each token of the prompt. Each later one has a row for its own
    token, or without a cache for all; its keys are all positions so far, with a static cache also
    places that are still free, with a sliding window the last ones alone.

    `rows` are the rows of each step's batch through which the sequence came; `mask` marks the
    tokens of the prompt that are no padding, whose rows are ignored.

    Raises:
        InputError: if the steps do not fit each other.
    """
    prompt = prompt_length(steps, rows, title)
    size = prompt + len(rows) - 1
    layers = []
    for layer in range(len(steps[0])):
        whole: Any = None
        for step, row in enumerate(rows):
            name = f"{title} of layer {layer + 1} in step {step + 1}"
            weights = row_of(_layer(steps, step, layer, title), row, name)
            end = prompt + step
            new = weights[:, -(prompt if step == 0 else 1) :]
            if whole is None:
                whole = np.zeros((len(new), size, size), np.float32)
            if new.shape[:1] != whole.shape[:1]:
                raise _unfitting(name, "another number of heads than the steps before")
            keys = new.shape[2]
            shown = new if mask is None or step else np.compress(mask, new, axis=1)
            if shown[..., end:].any() or (step == 0 and keys < end):
                raise _unfitting(name, f"{keys} keys where {end} positions had been read")
            read = new[..., :end]
            whole[:, end - new.shape[1] : end, end - read.shape[2] : end] = read
        layers.append(whole)
    return layers


def cross_attention(steps: Sequence[Layers], rows: Sequence[int], title: str) -> list[Weights]:
    """Join the cross-attention of all positions that the decoder read, `[head, query, key]` each.

    Raises:
        InputError: if the steps do not fit each other.
    """
    layers = []
    for layer in range(len(steps[0])):
        parts = []
        for step, row in enumerate(rows):
            name = f"{title} of layer {layer + 1} in step {step + 1}"
            weights = row_of(_layer(steps, step, layer, title), row, name)
            parts.append(weights if step == 0 else weights[:, -1:])
            if parts[-1].shape[::2] != parts[0].shape[::2]:
                raise _unfitting(name, "another number of heads or keys than the steps before")
        layers.append(np.concatenate(parts, axis=1))
    return layers


def prompt_length(steps: Sequence[Layers], rows: Sequence[int], title: str) -> int:
    """Count the tokens that were read in the first step."""
    first = row_of(_layer(steps, 0, 0, title), rows[0], f"{title} of layer 1 in step 1")
    return int(first.shape[1])


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
