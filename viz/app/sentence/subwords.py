"""The subwords of a sentence and its translation: ids, bytes, and how each was cut."""

import math
from collections.abc import Sequence
from html import escape

import streamlit as st

from transformer import Translation, Translator
from transformer.config import UNK
from transformer.text.merges import last_pair
from transformer.text.tokenizer import SPECIAL, WORD_START, Piece, Tokenizer
from viz.app.cache import cached_results, memory
from viz.draw.formatting import format_number
from viz.draw.labels import capitalised, display_tokens

HEIGHT = 260  # CSS pixels, in which the table scrolls

BPE = (
    "Byte-pair encoding: letters are joined pair by pair, in the order that was learnt from the "
    "training text. ▁ is a space."
)
UNIGRAM = "Unigram: the subwords are those with the largest joint probability. ▁ is a space."


def show(translator: Translator, translation: Translation) -> None:
    """Draw the table of both sides."""
    sides = (
        (translator.languages.name("source"), translator.tokenizer, translation.source_pieces),
        (
            translator.languages.name("target"),
            translator.target_tokenizer,
            translation.best.pieces,
        ),
    )
    pieces = translation.source_pieces, translation.best.pieces
    tables = memory.memo(
        ("subwords", cached_results.identity(translator), pieces),
        lambda: "".join(_table(capitalised(name), *side) for name, *side in sides),  # type: ignore[arg-type]
    )
    how = BPE if translator.tokenizer.joins_pairs else UNIGRAM
    with st.container(height=HEIGHT, border=False):
        st.html(f'<div class="headlight-subwords"><p>{how}</p>{tables}</div>')


def _table(title: str, tokenizer: Tokenizer, pieces: Sequence[Piece]) -> str:
    how = "joined from" if tokenizer.joins_pairs else "log p"
    head = "".join(f"<th>{escape(name)}</th>" for name in (title, "id", how))
    names = [display_tokens([p.text])[0] if p.id in SPECIAL else p.text for p in pieces]
    rows = (
        "".join(
            f"<td>{escape(cell)}</td>" for cell in (name, f"{p.id}", _describe_origin(tokenizer, p))
        )
        for name, p in zip(names, pieces, strict=True)
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table translate='no'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _describe_origin(tokenizer: Tokenizer, piece: Piece) -> str:
    """Describe the origin of a piece: its last pair, its score, or bytes of unknown characters."""
    if piece.id in SPECIAL:
        return ""
    if piece.id == UNK:
        typed = piece.text.removeprefix(WORD_START)
        return f"unknown: {typed.encode(errors='replace').hex(' ').upper()}"
    if not tokenizer.joins_pairs:
        score = tokenizer.score(piece.text)
        return format_number(score) if score > -math.inf else ""
    return " + ".join(last_pair(piece.text, tokenizer.score) or ())
