"""MarianMT weights from a local folder, as the Hugging Face hub publishes them, into our model.

A Marian Transformer (Junczys-Dowmunt et al. 2018) is the paper's, post-norm without a norm after
the stacks, with four differences, each undone or configured here, so that nothing else knows them:

- positions are sines in the first half of d_model and cosines in the second. Nothing but the
  positions depends on the order of d_model, so every d_model axis is permuted once;
- projections and the softmax have biases, and the activation is often swish: fields of our config;
- the decoder starts with `<pad>`, and special pieces have other ids: rows are put where ours stand;
- each language may have a vocabulary and an embedding of its own.
"""

from __future__ import annotations

import hashlib
import json
import math
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.config import BOS, TransformerConfig
from transformer.embedding import sinusoidal_positions
from transformer.errors import CheckpointError, ConfigError, quoted, unreadable
from transformer.marian_vocabulary import MarianTokenizer, MarianVocabularies
from transformer.model import Transformer
from transformer.reading import GIB, MIB, read_bytes
from transformer.shapes import parameter_shapes, refuse_too_large

CONFIG = "config.json"
SAFETENSORS, PICKLED = "model.safetensors", "pytorch_model.bin"
_MOST_BYTES_OF_JSON = 16 * MIB  # a vocabulary of 60,000 pieces has about 1 MiB
_MOST_BYTES_OF_WEIGHTS = 8 * GIB
_ACTIVATIONS = {"relu": "relu", "swish": "swish", "silu": "swish", "gelu": "gelu"}
_HALF_ROUNDING = 2**-11  # of a position, at most 1, that was stored in 16 bits


def is_marian(folder: Path) -> bool:
    """Whether a folder says that it holds a MarianMT model."""
    try:
        config = json.loads(read_bytes(folder / CONFIG, _MOST_BYTES_OF_JSON))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(config, dict) and config.get("model_type") == "marian"


def load(folder: Path) -> Checkpoint:
    """Read a MarianMT folder; the model is in evaluation mode and in float32.

    Raises:
        CheckpointError: naming the file and what is wrong with it.
    """
    digest = hashlib.sha256()
    config = _Config.read(folder, digest)
    vocabularies = MarianVocabularies.read(folder, config.separate, digest)
    stored = _Stored(folder, _weights(folder, digest))
    ours = config.ours(vocabularies, _positions(stored, config))
    try:
        refuse_too_large(ours)
    except ConfigError as error:
        raise CheckpointError(f"{folder / CONFIG} describes no model: {error}") from error
    model = Transformer(ours)
    _fill(model, stored, config, vocabularies)
    return Checkpoint(
        model.eval(),
        MarianTokenizer(vocabularies.source),
        folder,
        digest.hexdigest(),
        MarianTokenizer(vocabularies.target),
    )


@dataclass(frozen=True)
class _Config:
    """The fields of a Marian configuration that matter here."""

    path: Path
    values: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path, digest: hashlib._Hash) -> _Config:
        path = folder / CONFIG
        try:
            text = read_bytes(path, _MOST_BYTES_OF_JSON)
            values = json.loads(text)
        except OSError as error:
            raise CheckpointError(unreadable(error, path)) from error
        except (ValueError, RecursionError) as error:
            raise CheckpointError(f"{path} is not JSON: copy the folder again.") from error
        digest.update(text)
        if not isinstance(values, dict) or values.get("model_type") != "marian":
            raise CheckpointError(f"{path} is not that of a MarianMT model.")
        config = cls(path, values)
        config._refuse_what_differs()
        return config

    @property
    def separate(self) -> bool:
        """Whether each language has a vocabulary of its own."""
        return self.values.get("share_encoder_decoder_embeddings") is False

    def number(self, name: str) -> int:
        """A whole number of the configuration."""
        value = self.values.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise CheckpointError(
                f"{self.path} says {name} = {quoted(value)}, but that must be a whole number."
            )
        return value

    def ours(self, vocabularies: MarianVocabularies, positions: str) -> TransformerConfig:
        """The same in our symbols."""
        try:
            return TransformerConfig(
                vocab_size=len(vocabularies.target.texts),
                source_vocab_size=len(vocabularies.source.texts) if self.separate else None,
                N=self.number("encoder_layers"),
                d_model=self.number("d_model"),
                d_ff=self.number("encoder_ffn_dim"),
                h=self.number("encoder_attention_heads"),
                P_drop=float(self.values.get("dropout", 0.1)),
                positions=positions,  # type: ignore[arg-type]
                max_length=self.number("max_position_embeddings"),
                activation=_ACTIVATIONS[str(self.values.get("activation_function"))],  # type: ignore[arg-type]
                attention_bias=True,
                output_bias=True,
            )
        except (ConfigError, TypeError, ValueError) as error:
            raise CheckpointError(f"{self.path} describes no model: {error}") from error

    def _refuse_what_differs(self) -> None:
        values = self.values
        for name in ("layers", "ffn_dim", "attention_heads"):
            encoder, decoder = self.number(f"encoder_{name}"), self.number(f"decoder_{name}")
            if encoder != decoder:
                raise CheckpointError(
                    f"{self.path} says encoder_{name} = {encoder} and decoder_{name} = {decoder}: "
                    f"only models with the same in both stacks can be read."
                )
        if values.get("scale_embedding") is not True:
            raise CheckpointError(
                f"{self.path} says scale_embedding = {quoted(values.get('scale_embedding'))}: only "
                f"models whose embeddings are scaled by √d_model can be read."
            )
        activation = values.get("activation_function")
        if activation not in _ACTIVATIONS:
            raise CheckpointError(
                f"{self.path} says activation_function = {quoted(activation)}, which is none of "
                f"{', '.join(_ACTIVATIONS)}."
            )
        if values.get("normalize_before") or values.get("normalize_embedding"):
            raise CheckpointError(
                f"{self.path} describes a pre-norm model or one that normalises its embeddings: "
                f"only post-norm models, as in the paper, can be read."
            )


def _weights(folder: Path, digest: hashlib._Hash) -> dict[str, Tensor]:
    """The stored tensors by name, from safetensors if there are any."""
    path = folder / SAFETENSORS
    if not path.exists():
        path = folder / PICKLED
    try:
        content = read_bytes(path, _MOST_BYTES_OF_WEIGHTS)
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{folder} has no weights: neither {SAFETENSORS} nor {PICKLED} is there."
        ) from error
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error
    digest.update(content)
    if path.name == SAFETENSORS:
        try:
            return safetensors.torch.load(content)
        except safetensors.SafetensorError as error:
            raise CheckpointError(f"{path} is not a safetensors file: copy it again.") from error
    try:
        # tensors alone: nothing that a pickle could run
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, ValueError, EOFError, KeyError) as error:
        raise CheckpointError(
            f"{path} is not a file of weights alone: copy it again, or take {SAFETENSORS}."
        ) from error
    if not isinstance(loaded, dict) or not all(isinstance(v, Tensor) for v in loaded.values()):
        raise CheckpointError(f"{path} holds something else than weights by name.")
    return loaded


@dataclass(frozen=True)
class _Stored:
    """Stored tensors, each checked as it is asked for."""

    folder: Path
    tensors: Mapping[str, Tensor]

    def find(self, *names: str) -> Tensor | None:
        """The first of these that is there, in float32."""
        name = next((one for one in names if one in self.tensors), None)
        return None if name is None else self.tensors[name].float()

    def get(self, *names: str, shape: tuple[int, ...]) -> Tensor:
        """As `find`, of this shape and finite."""
        tensor = self.find(*names)
        if tensor is None:
            raise CheckpointError(f"{self.folder}: the weights lack tensor '{names[0]}'.")
        if tuple(tensor.shape) != shape:
            raise CheckpointError(
                f"{self.folder}: '{names[0]}' has shape {list(tensor.shape)}, but {CONFIG} asks "
                f"for {list(shape)}."
            )
        if not all(math.isfinite(extreme) for extreme in tensor.aminmax()):
            raise CheckpointError(f"{self.folder}: '{names[0]}' has weights that are not finite.")
        return tensor


def _halves_to_pairs(d_model: int) -> Tensor:
    """The order of d_model in which sines and cosines of one frequency are neighbours."""
    return torch.arange(d_model).view(2, -1).T.flatten()


def _stored_positions(stored: _Stored, config: _Config, stack: str) -> Tensor | None:
    name = f"model.{stack}.embed_positions.weight"
    if stored.find(name) is None:
        return None
    shape = config.number("max_position_embeddings"), config.number("d_model")
    return stored.get(name, shape=shape)[:, _halves_to_pairs(shape[1])]


def _positions(stored: _Stored, config: _Config) -> str:
    """Sinusoidal, unless a table is stored that is another than the formula's."""
    for stack in ("encoder", "decoder"):
        table = _stored_positions(stored, config, stack)
        if table is not None and (
            (table - sinusoidal_positions(*table.shape)).abs().max() > _HALF_ROUNDING
        ):
            return "learned"
    return "sinusoidal"


@torch.no_grad()
def _fill(
    model: Transformer, stored: _Stored, config: _Config, vocabularies: MarianVocabularies
) -> None:
    weights = dict(_named(model.config, stored, config, vocabularies))
    for name, parameter in model.named_parameters():
        parameter.copy_(weights[name])


def _named(
    ours: TransformerConfig, stored: _Stored, config: _Config, vocabularies: MarianVocabularies
) -> Iterator[tuple[str, Tensor]]:
    """Each parameter of our model by its name."""
    order = _halves_to_pairs(ours.d_model)
    rows = dict(_vocabulary_rows(ours, stored, config, vocabularies))
    for name, shape in parameter_shapes(ours):
        if name in rows:
            yield name, rows[name][:, order] if rows[name].dim() == 2 else rows[name]
        elif name.endswith("embedding.positions"):
            found = _stored_positions(stored, config, name.partition(".")[0])
            yield name, sinusoidal_positions(*shape) if found is None else found
        else:
            yield name, _permuted(name, stored.get(_marian_name(name), shape=shape), order)


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


def _marian_name(name: str) -> str:
    for ours, marians in _NAMES.items():
        name = name.replace(ours, marians)
    return f"model.{name}"


def _permuted(name: str, tensor: Tensor, order: Tensor) -> Tensor:
    """The tensor with its axis of d_model in our order."""
    module, what = name.split(".")[-2:]
    if module in ("W_O", "W_2", "norm"):
        return tensor[order]  # what it writes
    return tensor[:, order] if what == "weight" else tensor  # what it reads


def _vocabulary_rows(
    ours: TransformerConfig, stored: _Stored, config: _Config, vocabularies: MarianVocabularies
) -> Iterator[tuple[str, Tensor]]:
    """Embeddings and output bias, their rows by our ids and d_model in Marian's order."""
    d_model, target = ours.d_model, vocabularies.target
    rows = config.number("decoder_vocab_size" if config.separate else "vocab_size")
    if config.separate:
        source_rows = config.number("vocab_size")
        source = stored.get("model.encoder.embed_tokens.weight", shape=(source_rows, d_model))
        yield "source_embedding", vocabularies.source.in_our_order(source, config.path)
        table = stored.get("model.decoder.embed_tokens.weight", shape=(rows, d_model))
    else:
        table = stored.get(
            "model.shared.weight",
            "model.encoder.embed_tokens.weight",
            "model.decoder.embed_tokens.weight",
            "lm_head.weight",
            shape=(rows, d_model),
        )
    projection = stored.find("lm_head.weight")
    if projection is not None and not torch.equal(projection, table):
        raise CheckpointError(
            f"{stored.folder}: the projection before the softmax is not the embedding of the "
            f"decoder, but only models that share it can be read."
        )
    shared = target.in_our_order(table, config.path)
    start = config.number("decoder_start_token_id")
    if start >= rows:
        raise CheckpointError(
            f"{config.path} says decoder_start_token_id = {start}, but there are {rows:,} pieces."
        )
    shared[BOS] = table[start]
    yield "shared_embedding", shared
    bias = torch.zeros(1, rows)
    if "final_logits_bias" in stored.tensors:
        bias = stored.get("final_logits_bias", shape=(1, rows))
    yield "output_bias", target.in_our_order(bias.T, config.path)[:, 0]
