"""Equations as MathML, which browsers draw by themselves."""

from __future__ import annotations

from html import escape

_UPRIGHT = {"softmax", "exp", "Concat", "LayerNorm"}


def math(*parts: str) -> str:
    """A whole equation."""
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML">{row(*parts)}</math>'


def row(*parts: str) -> str:
    """Parts side by side; text that is no markup yet becomes a name, a number or a sign."""
    return f"<mrow>{''.join(_part(part) for part in parts)}</mrow>"


def sub(base: str, *below: str) -> str:
    """A base with an index."""
    return f"<msub>{_part(base)}{row(*below)}</msub>"


def sup(base: str, *above: str) -> str:
    """A base with an exponent."""
    return f"<msup>{_part(base)}{row(*above)}</msup>"


def both(base: str, below: str, above: str) -> str:
    """A base with an index and an exponent."""
    return f"<msubsup>{_part(base)}{_part(below)}{_part(above)}</msubsup>"


def over(above: str, below: str) -> str:
    """A fraction."""
    return f"<mfrac>{row(above)}{row(below)}</mfrac>"


def root(inside: str) -> str:
    """A square root."""
    return f"<msqrt>{_part(inside)}</msqrt>"


def total(index: str) -> str:
    """A sum over an index."""
    return f"<munder><mo>∑</mo>{_part(index)}</munder>"


def _part(text: str) -> str:
    if text.startswith("<m"):
        return text
    if text in _UPRIGHT:
        return f'<mi mathvariant="normal">{text}</mi>'
    if text.isalpha():
        return f"<mi>{text}</mi>"
    if text.replace(".", "").isdigit():
        return f"<mn>{text}</mn>"
    return f"<mo>{escape(text)}</mo>"
