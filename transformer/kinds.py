"""The three uses of attention (§3.2.3) and the rows of a decoder, as names without torch."""

from typing import Literal, TypeVar, get_args

from transformer.choices import require_choice

T = TypeVar("T")
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


def axes(kind: Kind, source: T, read: T, written: T | None = None) -> tuple[T, T]:
    """Choose what stands along the queries and the keys of a map: two of the three sequences.

    A row of cross-attention is named by what it writes, unless that is not given.
    """
    if kind == "cross":
        return (read if written is None else written), source
    return (source, source) if kind == "encoder_self" else (read, read)


def attention_name(kind: Kind, layer: int) -> str:
    """Return the dotted name of an attention module, with which its hook points begin."""
    require_choice("kind", kind, KINDS)
    return _MODULES[kind].format(layer)


def kind_of(point: str) -> Kind | None:
    """Return the kind of attention that a hook point belongs to; None for any other point."""
    stack, *_, module, _ = point.split(".")
    named = {(name.partition(".")[0], name.rpartition(".")[2]): k for k, name in _MODULES.items()}
    return named.get((stack, module))
