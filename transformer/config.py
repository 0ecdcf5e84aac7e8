"""The shape of a model: every knob of the paper's Table 3, in the paper's own symbols."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

from transformer.errors import ConfigError
from transformer.files.documents import DocumentError, field_types, from_json
from transformer.kinds import Kind

Positions = Literal["sinusoidal", "learned"]
Activation = Literal["relu", "swish", "gelu"]

PAD, UNK, BOS, EOS = 0, 1, 2, 3
"""Token ids of the four special pieces; every tokenizer here is made with them."""

MAX_VOCAB_SIZE = 2**20
# from 1 to many times the size of any model of Table 3, and still countable
_Pieces: TypeAlias = Annotated[int, 1, MAX_VOCAB_SIZE]
_Layers: TypeAlias = Annotated[int, 1, 2**8]
_Width: TypeAlias = Annotated[int, 1, 2**14]
_InnerWidth: TypeAlias = Annotated[int, 1, 2**18]
_Heads: TypeAlias = Annotated[int, 1, 2**10]
_Length: TypeAlias = Annotated[int, 1, 2**16]
_Share: TypeAlias = Annotated[float, 0, 0.999_999_999]  # below 1


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Hyper-parameters of one encoder-decoder Transformer (Table 3)."""

    # of both languages together (§5.1), or of the target's; four pieces are special
    vocab_size: Annotated[int, EOS + 1, MAX_VOCAB_SIZE]
    N: _Layers = 6  # layers in each stack (§3.1)
    d_model: _Width = 512  # width of the residual stream (§3.1)
    d_ff: _InnerWidth = 2048  # inner width of the feed-forward networks (§3.3)
    h: _Heads = 8  # attention heads (§3.2.2)
    # None only as an argument: __post_init__ replaces it
    d_k: _Width = None  # type: ignore[assignment]
    d_v: _Width = None  # type: ignore[assignment]
    P_drop: _Share = 0.1  # dropout rate (§5.4)
    epsilon_ls: _Share = 0.1  # label smoothing (§5.4)
    positions: Positions = "sinusoidal"  # or learned, as in row (E) (§3.5)
    max_length: _Length = 1024  # longest sequence, in pieces, that the model accepts
    activation: Activation = "relu"  # in the paper (§3.3); often swish, x · σ(x), in MarianMT
    attention_bias: bool = False  # whether W^Q, W^K, W^V and W^O have biases
    output_bias: bool = False  # whether each piece has a bias before the softmax
    source_vocab_size: _Pieces | None = None  # with its own embedding; shared in the paper (§3.4)
    decoder_N: _Layers | None = None  # None means N
    decoder_d_ff: _InnerWidth | None = None  # None means d_ff
    decoder_h: _Heads | None = None  # heads together as wide as the encoder's; None means h
    scale_embedding: bool = True  # multiply embeddings by √d_model (§3.4)
    own_projection: bool = False  # in the paper it is that of the embeddings (§3.4)

    def __post_init__(self) -> None:
        try:
            for name, form in field_types(TransformerConfig).items():
                if (value := getattr(self, name)) is not None or name not in ("d_k", "d_v"):
                    from_json(form, value, name)
        except DocumentError as error:
            raise ConfigError(f"The model configuration {error}.") from error
        for name in ("d_k", "d_v"):
            if getattr(self, name) is None:
                if self.d_model % self.h:
                    raise ConfigError(
                        f"d_model = {self.d_model} cannot be divided among h = {self.h} heads: "
                        f"choose an h that divides d_model, or give d_k and d_v."
                    )
                object.__setattr__(self, name, self.d_model // self.h)
        heads = self.decoder_h or self.h
        if self.h * self.d_k % heads or self.h * self.d_v % heads:
            raise ConfigError(
                f"The heads of the encoder are {self.h * self.d_k} and {self.h * self.d_v} wide "
                f"together, which cannot be divided among decoder_h = {heads}: choose another one."
            )
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ConfigError(
                f"d_model = {self.d_model} must be even: sinusoidal positions are pairs "
                f"of sine and cosine."
            )

    @classmethod
    def base(cls, vocab_size: int = 37_000, **changes: Any) -> "TransformerConfig":
        """Return the paper's base model: 65 M parameters in Table 3, 63.05 M with 37,000 pieces."""
        return cls(vocab_size=vocab_size, **changes)

    @classmethod
    def big(cls, vocab_size: int = 37_000, **changes: Any) -> "TransformerConfig":
        """Return the paper's big model: 213 M parameters in Table 3, 214.2 M with 37,000 pieces."""
        shape: dict[str, Any] = {"d_model": 1024, "d_ff": 4096, "h": 16, "P_drop": 0.3}
        return cls(vocab_size=vocab_size, **(shape | changes))

    @classmethod
    def demo(cls, vocab_size: int = 8_000, **changes: Any) -> "TransformerConfig":
        """Return a model for two CPU cores or a small GPU: the paper's depth, d_model 256."""
        shape: dict[str, Any] = {"d_model": 256, "d_ff": 1024}
        return cls(vocab_size=vocab_size, **(shape | changes))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "TransformerConfig":
        """Build from a plain mapping, as `config.json` holds it."""
        if not isinstance(values, dict):  # of a damaged file
            raise ConfigError("The model configuration is not a table.")
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(values) - known):
            raise ConfigError(
                f"The model configuration has no field {unknown[0]!r}; "
                f"its fields are {', '.join(sorted(known))}."
            )
        if "vocab_size" not in values:
            raise ConfigError("The model configuration lacks the field 'vocab_size'.")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain JSON values; those of `LATER` only where they are set."""
        values = dataclasses.asdict(self)
        return {name: value for name, value in values.items() if value != LATER.get(name, ...)}

    @cached_property
    def decoder(self) -> "TransformerConfig":
        """Configuration in which N, d_ff, h, d_k and d_v are those of the decoder."""
        if (self.decoder_N, self.decoder_d_ff, self.decoder_h) == (None, None, None):
            return self
        h = self.decoder_h or self.h
        return dataclasses.replace(
            self,
            N=self.decoder_N or self.N,
            d_ff=self.decoder_d_ff or self.d_ff,
            h=h,
            d_k=self.h * self.d_k // h,
            d_v=self.h * self.d_v // h,
            decoder_N=None,
            decoder_d_ff=None,
            decoder_h=None,
        )

    def stack(self, kind: Kind) -> "TransformerConfig":
        """Return the configuration in which these are of the stack that has such attention."""
        return self if kind == "encoder_self" else self.decoder


LATER: dict[str, object] = {
    name: TransformerConfig.__dataclass_fields__[name].default
    for name in ("decoder_N", "decoder_d_ff", "decoder_h", "scale_embedding", "own_projection")
}
"""Fields that came later, with the values that checkpoints of before mean."""
