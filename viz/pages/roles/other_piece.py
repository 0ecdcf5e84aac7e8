"""The piece that was not written: one of the most probable others of the step, or a typed one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from transformer import InputError, Translator
from transformer.config import EOS, UNK
from transformer.decoding import NEVER_WRITTEN
from transformer.errors import quoted as typed_text
from transformer.score import Choice
from transformer.tokenizer import SPECIAL, WORD_START
from viz.app.fields import text_input
from viz.app.markdown import as_markdown
from viz.app.memory import memo
from viz.app.problems import without_paths
from viz.draw.formatting import format_probability
from viz.draw.labels import display_tokens, quoted
from viz.pages.roles.written_piece import make_unique

OTHER = "other"
"""Name in the URL; empty for the most probable other piece."""

_BUTTONS = "other-pieces"
_GOES_ON = "·"  # as `labels.display_tokens` marks a piece that goes on with a word
_UNKNOWN = "<unk>"


def pick_other(translator: Translator, written: int, choices: Sequence[Choice]) -> tuple[int, str]:
    """Draw the most probable other pieces and the field for a typed one.

    Args:
        written: id of the piece that was written.
        choices: the most probable others of the step, at least one.

    Returns:
        The id of the piece, and a sentence on what was typed, or "".
    """
    ids = _ids(translator)
    top = [ids[choice.piece] for choice in choices]
    piece, said = top[0], ""
    with st.container(key="other-controls", horizontal=True, gap="small"):
        entered = text_input(
            "and not",
            key=OTHER,
            autocomplete="off",
            placeholder="type another one",
            width=290,
            help="Its first piece is compared. `·es` is a piece that goes on with a word, "
            "`</s>` the end of the sentence.",
        )
        typed = _readable(entered)
        try:
            if typed:
                piece = _other_than(written, piece_of(translator, typed), typed)
                said = _which(translator, piece, typed)
        except InputError as error:
            said = (
                f"{without_paths(error)} Until then it is {quoted(shown_piece(choices[0].piece))}."
            )
        _draw_choices(translator, choices, top, piece)
    return piece, said


def piece_of(translator: Translator, typed: str) -> int:
    """The id of the piece that a text names: as it is shown, or as the first piece of the text.

    Args:
        typed: with `·` or SentencePiece's `▁` in front, exactly this piece.

    Raises:
        InputError: if the vocabulary does not have it, or a search never writes it.
    """
    ids = _ids(translator)
    if typed in (*SPECIAL.values(), _UNKNOWN):
        piece = {**{text: n for n, text in SPECIAL.items()}, _UNKNOWN: UNK}[typed]
        if piece in NEVER_WRITTEN:
            raise InputError(f"{typed_text(typed)} is never written: choose another piece.")
        return piece
    exact = typed.removeprefix(_GOES_ON) if len(typed) > 1 else typed
    if exact != typed or typed.startswith(WORD_START) or not any(map(str.isalnum, typed)):
        if exact in ids and ids[exact] not in NEVER_WRITTEN:
            return ids[exact]
        if exact != typed:
            raise InputError(
                f"No piece of the vocabulary goes on with {typed_text(exact)}: type another one."
            )
    found = translator.target_tokenizer.encode(typed)
    first = next((piece for piece in found if piece != ids.get(WORD_START)), UNK)
    if first == UNK:
        raise InputError(
            f"{typed_text(typed)} is not in the vocabulary of this model: type a word."
        )
    return found[0]


def name_of(translator: Translator, piece: int) -> str:
    """What `piece_of` reads as this piece: as it is shown wherever that tells it apart."""
    text = text_of(translator, piece)
    name = shown_piece(text)
    try:
        return name if piece_of(translator, name) == piece else text
    except InputError:
        return text


def text_of(translator: Translator, piece: int) -> str:
    """A piece as the vocabulary has it."""
    (found,) = translator.target_tokenizer.pieces_of([piece])
    return found.text


def shown_piece(piece: str) -> str:
    """A piece by itself as `labels.display_tokens` writes it among others."""
    return display_tokens([piece, WORD_START])[0]


def clear_other() -> None:
    """Go back to the most probable other piece, as where another step is chosen."""
    st.session_state[OTHER] = ""


def _readable(entered: str) -> str:
    """What was typed, without half letters and with single blanks between its words."""
    return " ".join(entered.encode(errors="replace").decode().split())


def _other_than(written: int, piece: int, typed: str) -> int:
    if piece == written:
        raise InputError(
            f"The first piece of {typed_text(typed)} is the one that was written: type another one."
        )
    return piece


def _which(translator: Translator, piece: int, typed: str) -> str:
    """Which piece of a typed text is compared; "" where that is the whole text."""
    text = text_of(translator, piece)
    name = shown_piece(text)
    if typed in (name, text) or piece == EOS:
        return ""
    return f"Of {quoted(typed)} the first piece is compared, {quoted(name)}."


def _draw_choices(
    translator: Translator, choices: Sequence[Choice], ids: Sequence[int], piece: int
) -> None:
    def picked() -> None:
        chosen = st.session_state[_BUTTONS]
        if chosen is not None:  # a second click on the same piece leaves it
            st.session_state[OTHER] = name_of(translator, ids[chosen])

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
        on_change=picked,
        label_visibility="collapsed",
    )


def _ids(translator: Translator) -> dict[str, int]:
    """The id of each piece of the vocabulary, by its text."""

    def read() -> dict[str, int]:
        ids = range(translator.model.config.vocab_size)
        pieces = translator.target_tokenizer.pieces_of(list(ids))
        return {piece.text: piece.id for piece in pieces}

    return memo(("ids of pieces", translator.checksum), read)
