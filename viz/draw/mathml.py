"""Equations as trees of MathML elements, which the browser's side builds and the browser draws."""

from __future__ import annotations

from typing import TypeAlias

Node: TypeAlias = "tuple[str, str | tuple[Node, ...]]"
"""The name of an element, and its text or its children."""
Part: TypeAlias = "str | Node"
"""An element, or text that is to become a name, a number or a sign."""


def row(*parts: Part) -> Node:
    """Parts side by side."""
    return "mrow", tuple(_node(part) for part in parts)


def sub(base: Part, *below: Part) -> Node:
    """Make a base with an index."""
    return "msub", (_node(base), row(*below))


def sup(base: Part, *above: Part) -> Node:
    """Make a base with an exponent."""
    return "msup", (_node(base), row(*above))


def sub_sup(base: Part, below: Part, above: Part) -> Node:
    """Make a base with an index and an exponent."""
    return "msubsup", (_node(base), _node(below), _node(above))


def fraction(above: Part, below: Part) -> Node:
    """Make a fraction."""
    return "mfrac", (_node(above), _node(below))


def root(inside: Part) -> Node:
    """Make a square root."""
    return "msqrt", (_node(inside),)


def sum_over(index: Part) -> Node:
    """Make a sum over an index."""
    return "munder", (("mo", "∑"), _node(index))


def text_in(text: str) -> Node:
    """Words within an equation."""
    return "mtext", text


def _node(part: Part) -> Node:
    if not isinstance(part, str):
        return part
    if part.isalpha():
        return "mi", part
    return ("mn" if part.replace(".", "").isdigit() else "mo"), part
