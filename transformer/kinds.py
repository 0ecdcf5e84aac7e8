"""The three uses of attention (§3.2.3) and the rows of a decoder, as names without torch."""

from typing import Literal, get_args

from transformer.errors import InputError, quoted

Kind = Literal["encoder_self", "decoder_self", "cross"]
KINDS: tuple[Kind, ...] = get_args(Kind)

KIND_TITLES: dict[Kind, str] = {
    "encoder_self": "encoder self-attention",
    "decoder_self": "decoder self-attention",
    "cross": "cross-attention",
}
"""The kinds of attention in full."""

KIND_NAMES: dict[Kind, str] = {
    kind: title.removesuffix(" self-attention") for kind, title in KIND_TITLES.items()
}
"""The kinds of attention in short: encoder, decoder, cross-attention."""

Row = Literal["reads", "writes"]
"""The row of the decoder that stands for a word: that which reads it, or that which writes it."""
ROWS: tuple[Row, ...] = get_args(Row)

_MODULES: dict[Kind, str] = {
    "encoder_self": "encoder.layers.{}.self_attention",
    "decoder_self": "decoder.layers.{}.self_attention",
    "cross": "decoder.layers.{}.cross_attention",
}


def require_kind(kind: object) -> None:
    """Raise InputError unless this is a kind of attention."""
    if kind not in KINDS:
        raise InputError(
            f"There is no kind of attention {quoted(kind)}: choose one of {', '.join(KINDS)}."
        )


def attention_name(kind: Kind, layer: int) -> str:
    """Return the dotted name of an attention module, with which its hook points begin."""
    require_kind(kind)
    return _MODULES[kind].format(layer)
