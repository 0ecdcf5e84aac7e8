"""One head of a model, by its place."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from transformer.errors import InputError, quoted
from transformer.kinds import KIND_NAMES, KIND_TITLES, KINDS, Kind

if TYPE_CHECKING:
    from transformer.config import TransformerConfig
    from transformer.model import Transformer


class Head(NamedTuple):
    """One head of a model; layer and head count from 0."""

    kind: Kind
    layer: int
    head: int

    @property
    def title(self) -> str:
        """The head as the screen names it, counted from 1: `L3 H5 · cross-attention`."""
        return f"L{self.layer + 1} H{self.head + 1} · {KIND_NAMES[self.kind]}"


def all_heads(config: "TransformerConfig") -> list[Head]:
    """List the heads of a model by kind, layer and number."""
    return [
        Head(kind, layer, head)
        for kind in KINDS
        for layer in range(config.stack(kind).N)
        for head in range(config.stack(kind).h)
    ]


def require_heads(model: "Transformer", heads: Sequence[Head]) -> None:
    """Make sure that the model has these heads, and that none is named twice."""
    for place in heads:
        stack = model.config.stack(place.kind)
        for name, value, count in (
            ("layers", place.layer, stack.N),
            ("heads", place.head, stack.h),
        ):
            if not 0 <= value < count:
                raise InputError(
                    f"The model has {count} {name}, counted from 0: there is no "
                    f"{name.removesuffix('s')} {quoted(value)} ({place.title} on the screen) of "
                    f"{KIND_TITLES[place.kind]}."
                )
    if len(set(heads)) < len(heads):
        twice = next(place for place in heads if heads.count(place) > 1)
        raise InputError(f"{twice.title} is named twice: name it once.")
