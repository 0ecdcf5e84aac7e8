"""The configuration of a MarianMT folder in our symbols, and its languages."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer import errors, shapes
from transformer.config import Activation, TransformerConfig
from transformer.errors import CheckpointError, ConfigError, quoted
from transformer.files import documents, reading
from transformer.text.languages import Languages, name_of

CONFIG, TOKENIZER_CONFIG = "config.json", "tokenizer_config.json"
MAX_JSON_BYTES = 16 * reading.MIB
"""Of any JSON file of the folder; a vocabulary of 60,000 pieces has about 1 MiB."""

_ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "swish": "swish",
    "silu": "swish",
    "gelu": "gelu",
}
_PAIR = re.compile(r"opus-mt-(?:tc-\w+-)?(\w+)-(\w+)")  # one of the hub's names


def read_json(path: Path, digest: "hashlib._Hash") -> Any:
    """Read a JSON file of the folder."""
    missing = f"{path.parent} has no {path.name}: save it there with save_pretrained."
    with errors.reading(path, missing=missing):
        content = reading.read_bytes(path, MAX_JSON_BYTES)
    digest.update(content)
    try:
        return documents.parse_json(content)
    except documents.DocumentError as error:
        raise CheckpointError(f"{path} {error}: copy the folder again.") from error


@dataclass(frozen=True)
class MarianConfig:
    """The fields that matter here, each checked as it is asked for."""

    path: Path
    values: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path, digest: "hashlib._Hash") -> "MarianConfig":
        """Read the file."""
        path = folder / CONFIG
        values = read_json(path, digest)
        kind = values.get("model_type") if isinstance(values, dict) else None
        if kind != "marian":
            other = "no model" if kind is None else f"a model of type {quoted(kind)}"
            raise CheckpointError(
                f"{path} describes {other}: of the hub's folders, those of MarianMT models can be "
                f"read; draw others with AttentionTrace.from_huggingface."
            )
        config = cls(path, values)
        config._refuse_what_differs()
        return config

    @property
    def shares(self) -> bool:
        """True if both stacks are meant to have one embedding."""
        return self.values.get("share_encoder_decoder_embeddings") is not False

    @property
    def tied(self) -> bool:
        """True if what is meant to be one matrix is one: embeddings, and the projection."""
        return self.values.get("tie_word_embeddings") is not False

    @property
    def target_rows(self) -> int:
        """Pieces of the target's embedding."""
        separate = not self.shares and self.values.get("decoder_vocab_size") is not None
        return self.number("decoder_vocab_size" if separate else "vocab_size")

    def number(self, name: str) -> int:
        """Return a whole number of the configuration."""
        value = self.values.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise CheckpointError(
                f"{self.path} says {name} = {quoted(value)}, but that must be a whole number."
            )
        return value

    def ours(self, target_size: int, source_size: int, *, separate: bool) -> TransformerConfig:
        """Return the configuration in the paper's symbols, with sinusoidal positions."""
        try:
            ours = TransformerConfig(
                vocab_size=target_size,
                source_vocab_size=source_size
                if separate or not (self.shares and self.tied)
                else None,
                N=self.number("encoder_layers"),
                d_model=self.number("d_model"),
                d_ff=self.number("encoder_ffn_dim"),
                h=self.number("encoder_attention_heads"),
                decoder_N=self._decoder_size("layers"),
                decoder_d_ff=self._decoder_size("ffn_dim"),
                decoder_h=self._decoder_size("attention_heads"),
                scale_embedding=self.values.get("scale_embedding", False),
                own_projection=not self.tied,
                P_drop=self.values.get("dropout", 0.1),
                max_length=self.number("max_position_embeddings"),
                activation=_ACTIVATIONS[self.values["activation_function"]],
                attention_bias=True,
                output_bias=True,
            )
            shapes.refuse_too_large(ours)
        except ConfigError as error:
            raise CheckpointError(f"{self.path} describes no model: {error}") from error
        return ours

    def _decoder_size(self, name: str) -> int | None:
        """Return a size of the decoder; None where the encoder has the same."""
        size = self.number(f"decoder_{name}")
        return None if size == self.number(f"encoder_{name}") else size

    def _refuse_what_differs(self) -> None:
        values = self.values
        activation = values.get("activation_function")
        if not isinstance(activation, str) or activation not in _ACTIVATIONS:
            raise CheckpointError(
                f"{self.path} says activation_function = {quoted(activation)}, which is none of "
                f"{', '.join(_ACTIVATIONS)}."
            )
        if values.get("normalize_before") or values.get("normalize_embedding"):
            raise CheckpointError(
                f"{self.path} describes a pre-norm model or one that normalises its embeddings: "
                f"only post-norm models, as in the paper, can be read."
            )


def read_languages(folder: Path, codes: tuple[str, ...], digest: "hashlib._Hash") -> Languages:
    """Read the languages of `tokenizer_config.json`, else of the folder's name."""
    path = folder / TOKENIZER_CONFIG
    values = read_json(path, digest) if path.exists() else {}
    values = values if isinstance(values, dict) else {}
    sides = (values.get(f"{side}_lang") for side in ("source", "target"))
    stated = [code if isinstance(code, str) else "" for code in sides]
    named = next((m.groups() for part in reversed(folder.absolute().parts)
                  if (m := _PAIR.search(part))), ("", ""))  # fmt: skip
    source, target = (
        next(filter(None, map(_language_name, known)), "")
        for known in zip(stated, named, strict=True)
    )
    return Languages(source, "" if len(codes) > 1 else target, codes)


def _language_name(code: str) -> str | None:
    """Return the name of a language by its code; None for a group such as `cat_oci_spa`."""
    first, *more = code.split("_")
    is_region = len(more) == 1 and len(more[0]) == 2  # `pt_br` is of Brazil, not Breton, too
    several = not is_region and any(part.islower() and name_of(part) for part in more)
    return None if several else name_of(first)
