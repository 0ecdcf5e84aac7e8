"""Each parameter of our model from what a MarianMT folder stores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from transformer.checkpoints.marian.config import MarianConfig
from transformer.checkpoints.marian.stored import Stored
from transformer.checkpoints.marian.vocabulary import MarianVocabularies
from transformer.config import BOS, TransformerConfig
from transformer.embedding import sinusoidal_positions
from transformer.errors import CheckpointError
from transformer.files.reading import MIB
from transformer.shapes import Shape, parameter_shapes

MOST_BYTES_OF_HEADER = 8 * MIB  # names and shapes of the tensors, in either format
_ROUNDING = 2**-8  # twice bfloat16's of a position, which is at most 1; float16's is smaller
_NEVER = -1e9  # an output bias with which a piece has no probability at all

_NAMES = {
    "self_attention.": "self_attn.",
    "cross_attention.": "encoder_attn.",
    "self_attention_norm.norm.": "self_attn_layer_norm.",
    "cross_attention_norm.norm.": "encoder_attn_layer_norm.",
    "feed_forward_norm.norm.": "final_layer_norm.",
    "feed_forward.W_1.": "fc1.",
    "feed_forward.W_2.": "fc2.",
    "W_Q.": "q_proj.",
    "W_K.": "k_proj.",
    "W_V.": "v_proj.",
    "W_O.": "out_proj.",
}


def most_bytes(ours: TransformerConfig, config: MarianConfig) -> int:
    """Bytes that the file of the weights may have: each in float64, and the embedding four times.

    Folders have it under the names of encoder, decoder and projection, too.
    """
    numbers = sum(math.prod(shape) for _, _, shape in _stored_shapes(ours, config))
    repeated = 3 * config.target_rows * ours.d_model
    return MOST_BYTES_OF_HEADER + 8 * (numbers + repeated)


def check_header(ours: TransformerConfig, config: MarianConfig, stored: Stored) -> None:
    """Compare names, shapes and types of all tensors with the configuration; reads no weights.

    Raises:
        CheckpointError: if one is missing or does not fit.
    """
    for name, names, shape in _stored_shapes(ours, config):
        optional = name == "output_bias" or name.endswith("embedding.positions")
        if not optional or names[0] in stored.names:
            stored.view(*names, shape=shape)


def has_learned_positions(stored: Stored, config: MarianConfig) -> bool:
    """Return whether a stored table of positions differs from the formula.

    Raises:
        CheckpointError: if a table is stored that is none of positions.
    """
    for stack in ("encoder", "decoder"):
        table = stored_positions(stored, config, stack)
        if table is not None and (
            (table.float() - sinusoidal_positions(*table.shape)).abs().max() > _ROUNDING
        ):
            return True
    return False


@torch.no_grad()
def parameters(
    ours: TransformerConfig,
    stored: Stored,
    config: MarianConfig,
    vocabularies: MarianVocabularies,
) -> Iterator[tuple[str, Tensor]]:
    """Each parameter of our model by its name, in the type in which it is stored.

    Raises:
        CheckpointError: if one is missing or does not fit.
    """
    for name, shape in parameter_shapes(ours):
        if name == "shared_embedding":
            yield name, _target_embedding(stored, config, vocabularies)
        elif name == "source_embedding":
            names, rows = _stored_as(name, shape, config)
            table = stored.get(*names, shape=rows)
            ordered = vocabularies.source.in_our_order(table, config.path)
            yield name, halves_to_pairs(ordered, axis=1)
        elif name == "output_bias":
            yield name, _output_bias(stored, config, vocabularies)
        elif name.endswith("embedding.positions"):
            stored_table = stored_positions(stored, config, name.partition(".")[0])
            yield name, sinusoidal_positions(*shape) if stored_table is None else stored_table
        else:
            yield name, _reordered(name, stored.get(marian_name(name), shape=shape))


def halves_to_pairs(x: Tensor, axis: int) -> Tensor:
    """Reorder an axis of d_model: sine and cosine of one frequency become neighbours."""
    halves: Tensor = x.unflatten(axis, (2, -1))
    return halves.transpose(axis, axis + 1).flatten(axis, axis + 1)


def stored_positions(stored: Stored, config: MarianConfig, stack: str) -> Tensor | None:
    """Read the stored positions of a stack in our order, `[position, d_model]`; None if absent.

    Raises:
        CheckpointError: if it has another shape, or numbers that are none.
    """
    table = config.number("max_position_embeddings"), config.number("d_model")
    (name,), shape = _stored_as(f"{stack}.embedding.positions", table, config)
    if name not in stored.names:
        return None
    return halves_to_pairs(stored.get(name, shape=shape), axis=1)


def marian_name(name: str) -> str:
    """Marian's name of a parameter of a layer."""
    for ours, marians in _NAMES.items():
        name = name.replace(ours, marians)
    return f"model.{name}"


def axis_of_d_model(name: str) -> int | None:
    """Return the axis of a parameter that is d_model, by our name; None if there is none."""
    module, parameter = name.split(".")[-2:]
    if module in ("W_O", "W_2", "norm"):
        return 0  # what it writes
    return 1 if parameter == "weight" else None  # what it reads


def _stored_shapes(
    ours: TransformerConfig, config: MarianConfig
) -> Iterator[tuple[str, tuple[str, ...], Shape]]:
    """Each of our parameters, the names under which it may be stored, and its shape there."""
    for name, shape in parameter_shapes(replace(ours, positions="learned")):
        yield name, *_stored_as(name, shape, config)


def _stored_as(name: str, shape: Shape, config: MarianConfig) -> tuple[tuple[str, ...], Shape]:
    """Return the names under which a parameter of ours may be stored, with its shape there."""
    if name == "shared_embedding":
        encoder = ("model.shared.weight", "model.encoder.embed_tokens.weight")
        shared = () if config.separate else encoder
        names = (*shared, "model.decoder.embed_tokens.weight", "lm_head.weight")
        return names, (config.target_rows, shape[-1])
    if name == "source_embedding":
        return ("model.encoder.embed_tokens.weight",), (config.number("vocab_size"), shape[-1])
    if name == "output_bias":
        return ("final_logits_bias",), (1, config.target_rows)
    if name.endswith("embedding.positions"):
        return (f"model.{name.partition('.')[0]}.embed_positions.weight",), shape
    return (marian_name(name),), shape


def _reordered(name: str, tensor: Tensor) -> Tensor:
    """Reorder the axis of d_model of a tensor to our order."""
    axis = axis_of_d_model(name)
    return tensor.clone() if axis is None else halves_to_pairs(tensor, axis)


def _target_embedding(
    stored: Stored, config: MarianConfig, vocabularies: MarianVocabularies
) -> Tensor:
    names, shape = _stored_as("shared_embedding", (config.number("d_model"),), config)
    table = stored.get(*names, shape=shape)
    if "lm_head.weight" in stored.names and not torch.equal(
        stored.get("lm_head.weight", shape=shape), table
    ):
        raise CheckpointError(
            f"{stored.path}: the projection before the softmax is not the embedding of the "
            f"decoder, but only models that share it can be read."
        )
    ordered = vocabularies.target.in_our_order(table, config.path)
    start = config.number("decoder_start_token_id")
    if start >= len(table):
        raise CheckpointError(
            f"{config.path} says decoder_start_token_id = {start:,}, but there are "
            f"{len(table):,} pieces."
        )
    ordered[BOS] = table[start]
    return halves_to_pairs(ordered, axis=1)


def _output_bias(stored: Stored, config: MarianConfig, vocabularies: MarianVocabularies) -> Tensor:
    (name,), shape = _stored_as("output_bias", (), config)
    bias = stored.get(name, shape=shape)[0] if name in stored.names else torch.zeros(shape[1])
    ours = vocabularies.target.in_our_order(bias, config.path).float()
    if vocabularies.target.numbers.get("<s>") != config.number("decoder_start_token_id"):
        ours[BOS] = _NEVER  # Marian begins with another piece, mostly `<pad>`, which is there, too
    return ours
