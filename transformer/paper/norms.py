"""Layer norm and batch norm of the same tensor: over which axes mean and variance are taken."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from transformer import masks
from transformer.arrays import Bools, Floats
from transformer.model import Transformer
from transformer.text.tokenizer import Piece
from transformer.translator import Translator


class Block(NamedTuple):
    """The input of one norm of the encoder in a padded batch."""

    x: Floats  # `[sentence, position, d_model]`, the sum x + Sublayer(x)
    real: Bools  # `[sentence, position]`, False at padding


@torch.inference_mode()
def norm_block(model: Transformer, sentences: Sequence[Sequence[Piece]], name: str) -> Block:
    """Run the encoder; keep what a norm, `encoder.layers.0.feed_forward_norm`, reads (§3.1)."""
    source = masks.pad_sequences([[piece.id for piece in pieces] for pieces in sentences])
    values: list[torch.Tensor] = []
    with model.hooks({f"{name}.hook_sum": lambda value, _: values.append(value)}):
        model.encode(source.to(model.device))
    return Block(values[0].double().cpu().numpy(), masks.padding_mask(source)[:, 0, 0].numpy())


def norm_texts(translator: Translator, texts: Sequence[str], name: str) -> Block:
    """Run the encoder over a batch of texts; see `norm_block`."""
    return norm_block(translator.model, list(map(translator.reader.text, texts)), name)


def batches_with_first(count: int, size: int) -> list[tuple[int, ...]]:
    """List every batch of `size` out of `count` sentences that has the first one."""
    return [(0, *others) for others in combinations(range(1, count), size - 1)]


def layer_norm(x: Floats, eps: float) -> Floats:
    """Normalise each token: mean 0 and variance 1 over its features (Ba et al. 2016)."""
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    normalised: Floats = (x - mean) / np.sqrt(variance + eps)
    return normalised


class TokenNorm(NamedTuple):
    """One token on its way through a layer norm, and the norm's parameters, each `[d_model]`."""

    before: Floats
    normalised: Floats  # mean 0 and variance 1
    after: Floats  # times the gain, plus the bias
    gain: Floats
    bias: Floats


def token_norm(model: Transformer, x: npt.ArrayLike, name: str) -> TokenNorm:
    """Apply a norm, `encoder.layers.0.feed_forward_norm`, to one token, `[d_model]`."""
    norm: Any = model.get_submodule(f"{name}.norm")
    gain, bias = (part.detach().double().cpu().numpy() for part in (norm.weight, norm.bias))
    before = np.asarray(x, dtype=np.float64)
    normalised = layer_norm(before, norm.eps)
    return TokenNorm(before, normalised, normalised * gain + bias, gain, bias)


class Jitter(NamedTuple):
    """Statistics by which batch norm normalises one number in several batches, each `[batch]`."""

    mean: Floats
    variance: Floats
    normalised: Floats  # what the number becomes


def batch_jitter(
    block: Block, batches: Sequence[Sequence[int]], token: int, feature: int, eps: float = 1e-5
) -> Jitter:
    """Normalise a feature of a token of sentence 0 as batch norm does (Ioffe & Szegedy 2015).

    Mean and variance are those of the feature over all tokens of a batch, without padding; `eps` is
    added to the biased variance.
    """
    rows = []
    for batch in map(list, batches):
        counted = block.x[batch, :, feature][block.real[batch]]
        value = (block.x[0, token, feature] - counted.mean()) / np.sqrt(counted.var() + eps)
        rows.append((counted.mean(), counted.var(), value))
    return Jitter(*np.array(rows).T)
