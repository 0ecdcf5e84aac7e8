"""A Transformer's weights by Marian's names and in Marian's order of d_model.

`transformer.marian.mapping` reads what is written here: its permutation, backwards.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from transformer.attention import MultiHeadAttention
from transformer.model import Transformer

_NAMES = {
    "self_attention_norm.norm": "self_attn_layer_norm",
    "cross_attention_norm.norm": "encoder_attn_layer_norm",
    "feed_forward_norm.norm": "final_layer_norm",
    "self_attention": "self_attn",
    "cross_attention": "encoder_attn",
    "feed_forward.W_1": "fc1",
    "feed_forward.W_2": "fc2",
    "W_Q": "q_proj",
    "W_K": "k_proj",
    "W_V": "v_proj",
    "W_O": "out_proj",
}
"""Our names of modules and Marian's, the longer ones first."""

_WRITE_TO_D_MODEL = ("out_proj", "fc2", "layer_norm")


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
            module, _, what = name.rpartition(".")
            module = _marian_name(module)
            yield f"{module}.{what}", _reordered(module, what, parameter)
    if not model.config.attention_bias:
        yield from _zero_biases(model)


def pairs_to_halves(x: Tensor, axis: int) -> Tensor:
    """An axis of d_model with all sines before all cosines; undoes `halves_to_pairs`."""
    pairs: Tensor = x.unflatten(axis, (-1, 2))
    return pairs.transpose(axis, axis + 1).flatten(axis, axis + 1).contiguous()


def _marian_name(module: str) -> str:
    for ours, marians in _NAMES.items():
        module = module.replace(ours, marians)
    return f"model.{module}"


def _reordered(module: str, what: str, tensor: Tensor) -> Tensor:
    """The tensor with its axis of d_model in Marian's order."""
    if module.endswith(_WRITE_TO_D_MODEL):
        return pairs_to_halves(tensor, axis=0)
    return pairs_to_halves(tensor, axis=1) if what == "weight" else tensor.contiguous()


def _zero_biases(model: Transformer) -> Iterator[tuple[str, Tensor]]:
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            for part in ("W_Q", "W_K", "W_V", "W_O"):
                yield f"{_marian_name(f'{name}.{part}')}.bias", torch.zeros(model.config.d_model)
