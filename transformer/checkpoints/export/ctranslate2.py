"""A folder for CTranslate2: what that reads, the tokenizer, and EXPORT.json with checksums.

`model.bin` · `config.json` · `shared_vocabulary.json` (these three are CTranslate2's) ·
`tokenizer.model` · `EXPORT.json` (format version, the checkpoint's checksum, its configuration,
SHA-256 of each file).

CTranslate2 has one width for the queries, keys and values of a head. Where d_k and d_v differ, the
narrower ones are filled up with zeros, which changes no product; the scale stays 1 / √d_k.

What it returns as attention is the first head of one layer, or the mean of all: the layer is that
of the alignment, and the aligning head comes first.
"""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.checkpoints import checkpoint as checkpoints
from transformer.checkpoints import marian
from transformer.checkpoints.checkpoint import TOKENIZER, Checkpoint
from transformer.checkpoints.export.manifest import EXPORT, new_export
from transformer.config import Activation
from transformer.errors import CheckpointError, import_extra
from transformer.layers import AddAndNorm, FeedForward
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

ENGINE = "ctranslate2"
QUANTIZATIONS = ("none", "int8", "int16", "float16", "bfloat16")
MODEL = "model.bin"
REQUIREMENT = "ctranslate2>=4.6,<5"

_ACTIVATIONS: dict[Activation, str] = {"relu": "RELU", "swish": "SWISH", "gelu": "GELU"}


def load_to_export(folder: Path) -> Checkpoint:
    """Read a Headlight checkpoint."""
    if marian.is_marian(folder):
        if (folder / EXPORT).is_file():
            raise CheckpointError(
                f"{folder} was exported to the layout of MarianMT: take the checkpoint that it was "
                f"exported from."
            )
        raise CheckpointError(
            f"{folder} is a MarianMT folder, which CTranslate2 converts itself: take its command "
            f"ct2-transformers-converter."
        )
    return checkpoints.load(folder)


class AligningHead(NamedTuple):
    """The map of the cross-attention whose weights CTranslate2 returns."""

    layer: int  # from 0
    head: int | None  # from 0; None is the mean of all


def write(
    checkpoint: Checkpoint,
    folder: Path,
    quantization: str = "none",
    alignment: AligningHead = AligningHead(-1, None),  # noqa: B008 a tuple does not change
) -> None:
    """Write a model for CTranslate2; an export that is there already is replaced atomically."""
    with new_export(folder, checkpoint, ENGINE, quantization=quantization) as new:
        spec = _specification(checkpoint.model, checkpoint.tokenizer, alignment)
        spec.validate()
        spec.optimize(None if quantization == "none" else quantization)
        spec.save(str(new))
        (new / TOKENIZER).write_bytes(checkpoint.tokenizer.model)


def engine() -> Any:
    """Import the package ctranslate2, which is an extra."""
    return import_extra("ctranslate2", "CTranslate2", REQUIREMENT)


def vocabulary(tokenizer: Tokenizer) -> list[str]:
    """List every piece by its id, as the engine reads and writes it."""
    return [piece.text for piece in tokenizer.pieces_of(range(tokenizer.vocab_size))]


def _specification(model: Transformer, tokenizer: Tokenizer, alignment: AligningHead) -> Any:
    """Build a `ctranslate2.specs.TransformerSpec` with the weights, post-norm as in §3.1."""
    engine()  # the sentence, where it is missing
    from ctranslate2.specs import common_spec, transformer_spec

    config = model.config
    width = max(config.d_k, config.d_v)
    head_dim = None if width * config.h == config.d_model else width
    activation = common_spec.Activation[_ACTIVATIONS[config.activation]]
    shape: dict[str, Any] = {"pre_norm": False, "activation": activation, "head_dim": head_dim}
    encoder = transformer_spec.TransformerEncoderSpec(config.N, config.h, **shape)
    decoder = transformer_spec.TransformerDecoderSpec(
        config.N,
        config.h,
        alignment_layer=alignment.layer,
        alignment_heads=config.h if alignment.head is None else 1,
        **shape,
    )
    spec = transformer_spec.TransformerSpec(encoder, decoder)
    norms = (module for module in model.modules() if isinstance(module, nn.LayerNorm))
    spec.config.layer_norm_epsilon = next(norms).eps

    table = _array(model.shared_embedding)
    encoder.embeddings[0].weight = decoder.embeddings.weight = decoder.projection.weight = table
    if model.output_bias is not None:
        decoder.projection.bias = _array(model.output_bias)
    encoder.position_encodings.encodings = _array(model.encoder.embedding.positions)
    decoder.position_encodings.encodings = _array(model.decoder.embedding.positions)
    layers: Any = (model.encoder.layers, model.decoder.layers)
    for to, layer in zip(encoder.layer, layers[0], strict=True):
        _attention(to.self_attention, layer.self_attention, layer.self_attention_norm)
        _feed_forward(to.ffn, layer.feed_forward, layer.feed_forward_norm)
    for number, (to, layer) in enumerate(zip(decoder.layer, layers[1], strict=True)):
        _attention(to.self_attention, layer.self_attention, layer.self_attention_norm)
        first = (alignment.head or 0) if number == alignment.layer else 0
        _attention(to.attention, layer.cross_attention, layer.cross_attention_norm, first)
        _feed_forward(to.ffn, layer.feed_forward, layer.feed_forward_norm)

    pieces = vocabulary(tokenizer)
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    return spec


class _Projection(NamedTuple):
    weight: np.ndarray
    bias: np.ndarray | None


def _attention(to: Any, attention: MultiHeadAttention, norm: AddAndNorm, first: int = 0) -> None:
    """Fill in the linears of `to`: the projections of one input each, one below another.

    The heads from `first` on come first, which changes no sum over heads.
    """
    h = attention.h
    linears = (attention.W_Q, attention.W_K, attention.W_V)
    d_k = attention.W_Q.out_features // h
    width = max(linear.out_features // h for linear in linears)
    q, k, v = (
        _Projection(
            _filled_up(_array(linear.weight), h, width, first),
            None if (bias := _bias(linear)) is None else _filled_up(bias, h, width, first),
        )
        for linear in linears
    )
    W_O = attention.W_O
    output = _Projection(_filled_up(_array(W_O.weight).T, h, width, first).T, _bias(W_O))
    inputs = [(q, k, v)] if len(to.linear) == 2 else [(q,), (k, v)]
    for linear, projections in zip(to.linear, [*inputs, (output,)], strict=True):
        linear.weight = np.concatenate([part.weight for part in projections])
        if biases := [part.bias for part in projections if part.bias is not None]:
            linear.bias = np.concatenate(biases)
    to.queries_scale = np.float32(1 / math.sqrt(d_k))
    _norm(to.layer_norm, norm)


def _bias(linear: nn.Linear) -> np.ndarray | None:
    bias: Tensor | None = linear.bias  # which the stubs of torch always have
    return None if bias is None else _array(bias)


def _filled_up(rows: np.ndarray, h: int, width: int, first: int) -> np.ndarray:
    """Pad the rows of each head with zeros: `[h * narrower, ...]` to `[h * width, ...]`."""
    by_head = np.roll(rows.reshape(h, -1, *rows.shape[1:]), -first, axis=0)
    missing = np.zeros((h, width - by_head.shape[1], *rows.shape[1:]), rows.dtype)
    return np.concatenate((by_head, missing), axis=1).reshape(h * width, *rows.shape[1:])


def _feed_forward(to: Any, feed_forward: FeedForward, norm: AddAndNorm) -> None:
    for linear, ours in ((to.linear_0, feed_forward.W_1), (to.linear_1, feed_forward.W_2)):
        linear.weight, linear.bias = _array(ours.weight), _array(ours.bias)
    _norm(to.layer_norm, norm)


def _norm(to: Any, norm: AddAndNorm) -> None:
    to.gamma, to.beta = _array(norm.norm.weight), _array(norm.norm.bias)


def _array(weight: Tensor) -> np.ndarray:
    # a copy: CTranslate2 scales what it quantizes in place
    return weight.detach().cpu().numpy().copy()
