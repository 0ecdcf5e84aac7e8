"""The inside of a head: data for `viz/browser/inside_head`, with every number of one query word."""

import re
from collections.abc import Sequence
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
_TOKEN = re.compile(r"\\text\{[^}]*\}|\\[a-z]+|[^\W\d_]+|\d+|\S")
_TAGS = {"": "", "_": "msub", "^": "msup", "_^": "msubsup"}


@dataclass(frozen=True)
class WalkStep:
    """One step of the arithmetic, with its text above the picture."""

    name: str
    equation: str  # in LaTeX, as `equation` reads it
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
    plays: bool = False,
    head: int,
    factor: str,
    caption: Sequence[str] = (),
) -> bytes:
    """Encode every step of one head for one query word, with all numbers exact.

    The keys are the tokens that the word, `query` in words, can look at. The walk begins at `step`,
    and may play on by itself; the steps of the arithmetic come after the picture of the whole. The
    factor that scales q · k is in words; the head counts from 0.
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
        "plays": plays,
        "steps": [asdict(step) | {"equation": equation(step.equation)} for step in steps],
        "ends": ends,
        "arrays": arrays,
        "shapes": {name: array.shape for name, array in arrays.items()},
    }
    return wire.encode_picture("inside_head", caption, message)


def step_of(value: object, count: int) -> int | None:
    """Return the clicked step, less than `count`; None if the message is malformed."""
    return value if wire.is_index(value, count) else None


def equation(latex: str) -> Node:
    r"""Make MathML of a few commands of LaTeX: `\frac`, `\sqrt`, `\text`, `_` and `^`.

    Letters side by side are one name; a line may break at `~`.
    """
    return "mrow", _nodes(_TOKEN.findall(latex))


def _nodes(tokens: list[str]) -> tuple[Node, ...]:
    """Take the nodes up to the end of a group, and its end."""
    nodes: list[Node] = []
    while tokens and tokens[0] != "}":
        base, scripts = _node(tokens), dict[str, Node]()
        while tokens and tokens[0] in "_^":
            mark = tokens.pop(0)
            scripts[mark] = _node(tokens)
        tag = "munder" if base == ("mo", "∑") else _TAGS["".join(scripts)]
        nodes.append((tag, (base, *scripts.values())) if scripts else base)
    del tokens[:1]
    return tuple(nodes)


def _node(tokens: list[str]) -> Node:
    token = tokens.pop(0)
    if token == "{":
        nodes = _nodes(tokens)
        return nodes[0] if len(nodes) == 1 else ("mrow", nodes)
    if token == r"\frac":
        return "mfrac", (_node(tokens), _node(tokens))
    if token == r"\sqrt":
        return "msqrt", (_node(tokens),)
    if text := token.removeprefix(r"\text{") if token[0] == "\\" else "":
        return "mtext", text[:-1]
    if token.isalpha():
        return "mi", token
    return ("mn" if token.isdigit() else "mo"), token.replace("~", " ")
