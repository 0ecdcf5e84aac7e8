"""Text where Streamlit reads Markdown: in headings, captions and labels of widgets."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([!-/:-@\[-`{-~])")
# Streamlit writes these as one sign where they stand alone, even if each character is escaped
_ARROWS = re.compile(r"(?<!\S)([-<>~])(->|[->=])(?!\S)")


def as_markdown(text: str) -> str:
    """Escape a text so that Markdown shows it as it is."""
    apart = _ARROWS.sub("\\1\u2060\\2", text)  # WORD JOINER, which nobody sees
    return _SPECIAL.sub(r"\\\1", apart)
