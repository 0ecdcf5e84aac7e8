"""The alternative piece: one of the most probable alternatives of the step, or a typed one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from transformer import InputError, Translator
from transformer.config import EOS, UNK
from transformer.decoding import NEVER_WRITTEN
from transformer.errors import quoted as typed_text
from transformer.text.tokenizer import SPECIAL, WORD_START
from transformer.translation.score import Choice
from viz.app.cache.memory import memo
from viz.app.chrome.markdown import as_markdown
from viz.draw.formatting import format_probability
from viz.draw.labels import display_tokens, quoted
from viz.pages.roles.written_piece import make_unique

OTHER = "other"
"""Name in the URL; empty for the most probable alternative."""
MOST_CHARACTERS = 60

_BUTTONS = "other-pieces"
_CONTINUES = "·"  # marks a piece inside a word, as `labels.display_tokens` does
_UNKNOWN = "<unk>"


def pick_other(translator: Translator, written: int, choices: Sequence[Choice]) -> tuple[int, str]:
    """Draw the most probable alternatives and the field for a typed one.

    Args:
        translator: the model.
        written: id of the written piece.
        choices: the most probable alternatives of the step, at least one.

    Returns:
        The id of the chosen piece, and a message on the typed text, or "".
    """
    ids = _ids(translator)
    top = [ids[choice.piece] for choice in choices]
    piece, message = top[0], ""
    with st.container(key="other-controls", horizontal=True, gap="small"):
        entered = st.text_input(
            "and not",
            key=OTHER,
            bind="query-params",
            max_chars=MOST_CHARACTERS,
            autocomplete="off",
            placeholder="type another one",
            width=290,
            help="Its first piece is compared. `·es` is a piece that goes on with a word, "
            "`</s>` the end of the sentence.",
        )
        typed = _normalise(entered or "")
        try:
            if typed:
                piece = _require_other(written, find_piece(translator, typed), typed)
                message = _compared_piece(translator, piece, typed)
        except InputError as error:
            message = f"{error} Until then it is {quoted(shown_piece(choices[0].piece))}."
        _draw_choices(translator, choices, top, piece)
    return piece, message


def find_piece(translator: Translator, typed: str) -> int:
    """Find the id of a typed piece: as the screen shows it, or the first piece of the text.

    Args:
        translator: the model.
        typed: the text; with `·` or SentencePiece's `▁` in front, exactly this piece.

    Raises:
        InputError: if the vocabulary does not have it, or a search never writes it.
    """
    ids = _ids(translator)
    if typed in (*SPECIAL.values(), _UNKNOWN):
        piece = {**{text: n for n, text in SPECIAL.items()}, _UNKNOWN: UNK}[typed]
        if piece in NEVER_WRITTEN:
            raise InputError(f"{typed_text(typed)} is never written: choose another piece.")
        return piece
    exact = typed.removeprefix(_CONTINUES) if len(typed) > 1 else typed
    if exact != typed or typed.startswith(WORD_START) or not any(map(str.isalnum, typed)):
        if exact in ids and ids[exact] not in NEVER_WRITTEN:
            return ids[exact]
        if exact != typed:
            raise InputError(
                f"No piece of the vocabulary goes on with {typed_text(exact)}: type another one."
            )
    pieces = translator.target_tokenizer.encode(typed)
    first = next((piece for piece in pieces if piece != ids.get(WORD_START)), UNK)
    if first == UNK:
        raise InputError(
            f"{typed_text(typed)} is not in the vocabulary of this model: type a word."
        )
    return pieces[0]


def piece_name(translator: Translator, piece: int) -> str:
    """Return the shown text of a piece, or its vocabulary text where that is ambiguous."""
    text = piece_text(translator, piece)
    name = shown_piece(text)
    try:
        return name if find_piece(translator, name) == piece else text
    except InputError:
        return text


def piece_text(translator: Translator, piece: int) -> str:
    """Return the text of a piece in the vocabulary."""
    return str(translator.target_tokenizer.pieces_of([piece])[0].text)


def shown_piece(piece: str) -> str:
    """Return a single piece as `labels.display_tokens` shows it within a sentence."""
    return display_tokens([piece, WORD_START])[0]


def clear_other() -> None:
    """Reset to the most probable alternative, as when another step is chosen."""
    st.session_state[OTHER] = ""


def _normalise(entered: str) -> str:
    """Normalise typed text: no lone surrogates, single spaces between words."""
    return " ".join(entered.encode(errors="replace").decode().split())


def _require_other(written: int, piece: int, typed: str) -> int:
    if piece == written:
        raise InputError(
            f"The first piece of {typed_text(typed)} is the one that was written: type another one."
        )
    return piece


def _compared_piece(translator: Translator, piece: int, typed: str) -> str:
    """Name the compared piece of a typed text; "" where it is the whole text."""
    text = piece_text(translator, piece)
    name = shown_piece(text)
    if typed in (name, text) or piece == EOS:
        return ""
    return f"Of {quoted(typed)} the first piece is compared, {quoted(name)}."


def _draw_choices(
    translator: Translator, choices: Sequence[Choice], ids: Sequence[int], piece: int
) -> None:
    def choose() -> None:
        choice = st.session_state[_BUTTONS]
        if choice is not None:  # a second click on the same piece deselects it
            st.session_state[OTHER] = piece_name(translator, ids[choice])

    labels = make_unique(
        [
            as_markdown(f"{shown_piece(choice.piece)} {format_probability(choice.probability)}")
            for choice in choices
        ]
    )
    st.session_state[_BUTTONS] = ids.index(piece) if piece in ids else None
    st.pills(
        "Most probable others",
        range(len(choices)),
        format_func=labels.__getitem__,
        key=_BUTTONS,
        on_change=choose,
        label_visibility="collapsed",
    )


def _ids(translator: Translator) -> dict[str, int]:
    """Return the id of each piece of the vocabulary, by its text."""

    def read() -> dict[str, int]:
        ids = range(translator.model.config.vocab_size)
        pieces = translator.target_tokenizer.pieces_of(list(ids))
        return {piece.text: piece.id for piece in pieces}

    return memo(("ids of pieces", translator.checksum), read)
