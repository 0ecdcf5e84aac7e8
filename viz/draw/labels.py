"""Pieces as a person reads them, and the words on the axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from transformer.kinds import Kind

WORD_START = "▁"
SPECIAL = frozenset({"<s>", "</s>", "<pad>", "<unk>"})


class Axes(NamedTuple):
    """What the rows of a map are and what its columns are, in words."""

    rows: str
    columns: str


AXES: dict[Kind, Axes] = {
    "encoder_self": Axes("English: the word that looks", "English: where it looks"),
    "decoder_self": Axes(
        "German read so far: the word that looks", "German read so far: where it looks"
    ),
    "cross": Axes("German: the word being written", "English: where it looks"),
}


def shown(tokens: Sequence[str]) -> list[str]:
    """The tokens of one axis, to be put on screen as text.

    Most pieces begin a word, so these stay plain and lose SentencePiece's `▁`; it is the piece
    that goes on with a word that gets a mark, `·es`. Full stops and commas say themselves that
    they hang on, and a dot before a dot would be misread. Where no token carries a `▁`, the axis
    holds whole words and nothing is marked.
    """
    pieces = any(token.startswith(WORD_START) for token in tokens)
    return [_shown(token, pieces) for token in tokens]


def _shown(token: str, pieces: bool) -> str:
    if token in SPECIAL:
        return token
    text = token.removeprefix(WORD_START).replace(WORD_START, " ")
    if not text.strip():
        return "␣"  # a piece that is a space and nothing else still needs a label
    goes_on = pieces and not token.startswith(WORD_START) and any(map(str.isalnum, text))
    return f"·{text}" if goes_on else text
