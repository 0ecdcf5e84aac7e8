"""The inside of a head: data for `viz/browser/inside_head`, with every number of one query word."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from transformer import kinds
from viz.draw import labels, palette, wire

if TYPE_CHECKING:
    from transformer.paper.arithmetic import Arithmetic


_SCALES = (
    ("q",),
    ("k",),
    ("products",),
    ("v", "weighted", "z", "concat"),
    ("x", "result", "others", "added", "normalised"),
)
"""Arrays in colours; those that are read against each other share one scale."""


Node: TypeAlias = "tuple[str, str | tuple[Node, ...]]"
"""The name of an element, and its text or its children."""
Part: TypeAlias = "str | Node"  # an element, or text that is to become a name, a number or a sign


@dataclass(frozen=True)
class WalkStep:
    """One step of the arithmetic, with its text above the picture."""

    name: str
    equation: Node
    shape: str  # with this model's and this sentence's numbers
    says: str
    code: str  # the line that computes it


def encode_inside(
    numbers: "Arithmetic",
    keys: Sequence[str],
    query: str,
    kind: kinds.Kind,
    *,
    title: str,
    steps: Sequence[WalkStep],
    step: int,
    head: int,
    factor: str,
    caption: Sequence[str] = (),
) -> bytes:
    """Encode every step of one head for one query word, with all numbers exact.

    The keys are the tokens that the word, `query` in words, can look at. The walk begins at `step`;
    the steps of the arithmetic come after the picture of the whole. The factor that scales q · k is
    in words; the head counts from 0.
    """
    arrays: dict[str, NDArray] = {
        name: np.asarray(value, dtype=np.float32) for name, value in vars(numbers).items()
    }
    ends: dict[str, float] = {}  # the value at the end of the colour scale of each coloured array
    for names in _SCALES:
        sizes = [palette.largest_colour(arrays[name]) for name in names if arrays[name].any()]
        ends |= dict.fromkeys(names, max(sizes, default=1.0))
    message = {
        "title": title,
        "kind": kind,
        "color": palette.COLOR[kind],
        "query": query,
        "keys": labels.display_tokens(keys),
        "head": head,
        "factor": factor,
        "step": step,
        "steps": [asdict(step) for step in steps],
        "ends": ends,
        "arrays": arrays,
        "shapes": {name: array.shape for name, array in arrays.items()},
    }
    return wire.encode_picture("inside_head", caption, message)


def step_of(value: object, count: int) -> int | None:
    """Return the clicked step, less than `count`; None if the message is malformed."""
    return value if wire.is_index(value, count) else None


def _element(name: str) -> Callable[..., Node]:
    """Return a function that makes an element of MathML of its parts."""
    return lambda *parts: (name, tuple(map(_node, parts)))


row = _element("mrow")  # make a row of parts side by side
sub, sup, sub_sup = _element("msub"), _element("msup"), _element("msubsup")
"""Make a base with an index, with an exponent, or with both in this order."""
fraction, root = _element("mfrac"), _element("msqrt")


def sum_over(index: Part) -> Node:
    """Make a sum over an index."""
    return "munder", (("mo", "∑"), _node(index))


def _node(part: Part) -> Node:
    if not isinstance(part, str):
        return part
    if part.isalpha():
        return "mi", part
    return ("mn" if part.replace(".", "").isdigit() else "mo"), part
