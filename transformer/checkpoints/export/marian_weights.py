"""A Transformer's weights by Marian's names and in Marian's order of d_model.

`transformer.checkpoints.marian.mapping` reads what is written here: its permutation, backwards.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from transformer.attention import MultiHeadAttention
from transformer.checkpoints.marian.mapping import axis_of_d_model, marian_name
from transformer.model import Transformer


@torch.no_grad()
def marian_weights(model: Transformer) -> Iterator[tuple[str, Tensor]]:
    """Each tensor of `model.safetensors` by its name, contiguous and in float32.

    Marian has biases where the paper has none: these are zero.
    """
    yield "model.shared.weight", pairs_to_halves(model.shared_embedding, axis=1)
    bias = model.output_bias
    zeros = torch.zeros(1, model.config.vocab_size)
    yield "final_logits_bias", zeros if bias is None else bias[None]
    for name, parameter in model.named_parameters():
        if name not in ("shared_embedding", "output_bias"):
            yield marian_name(name), _reordered(name, parameter)
    if not model.config.attention_bias:
        yield from _zero_biases(model)


def pairs_to_halves(x: Tensor, axis: int) -> Tensor:
    """Reorder an axis of d_model: all sines before all cosines; undoes `halves_to_pairs`."""
    pairs: Tensor = x.unflatten(axis, (-1, 2))
    return pairs.transpose(axis, axis + 1).flatten(axis, axis + 1).contiguous()


def _reordered(name: str, tensor: Tensor) -> Tensor:
    """Reorder the axis of d_model of a tensor to Marian's order."""
    axis = axis_of_d_model(name)
    return tensor.contiguous() if axis is None else pairs_to_halves(tensor, axis)


def _zero_biases(model: Transformer) -> Iterator[tuple[str, Tensor]]:
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            for part in ("W_Q", "W_K", "W_V", "W_O"):
                yield marian_name(f"{name}.{part}.bias"), torch.zeros(model.config.d_model)
