"""The written piece that a view explains, and its alternative: menus and their messages."""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from transformer import AttentionTrace, InputError, Translator, decoding
from transformer.analysis.logits.logit_lens import alternatives
from transformer.config import EOS, UNK
from transformer.errors import quoted as typed_text
from transformer.text.tokenizer import SPECIAL, WORD_START
from transformer.translation.score import Choice
from viz.app.cache import memory
from viz.app.chrome import explanations, fields, problems
from viz.app.links import address
from viz.app.view import cached
from viz.draw.formatting import format_probability
from viz.draw.labels import display_tokens, quoted

WRITTEN, OTHER = "written", "other"
"""Names in the URL: of the number of the piece, from 1, which the views share, and of the
alternative, empty for the most probable one."""
ALTERNATIVES = 6  # most probable alternatives of a step
MAX_BUTTONS = 60  # pieces up to which each has a button; a longer translation has a menu

_WRITTEN_BUTTONS, _BY_DEFAULT = "written-pieces", "written.by-default"
_CONTINUES = "·"  # marks a piece inside a word, as `labels.display_tokens` does


def pick_written(
    trace: AttentionTrace, first: int, on_pick: Callable[[], object] = bool
) -> tuple[int, str]:
    """Draw the number field and the pieces; return the step, from 0, and a message or ""."""
    names = display_tokens(trace.target_tokens)
    requested, problem = _requested_number(), ""
    if requested is not None and not 1 <= requested <= len(names):
        problem = f"The translation has {len(names)} steps and no step {requested}: "
        problem += f"this is step {first + 1}."
        requested = None
    st.session_state[WRITTEN] = requested or first + 1
    # a default, which may differ for another sentence
    st.session_state[_BY_DEFAULT] = first + 1 if requested is None else None

    def picked() -> None:
        st.session_state[_BY_DEFAULT] = None
        on_pick()

    def choose(index: int) -> None:
        st.session_state[WRITTEN] = index + 1
        picked()

    with st.container(key="written-controls", horizontal=True, gap="small"):
        number = st.number_input(
            "Step",
            1,
            len(names),
            None,  # no default value: Streamlit would leave it out of the link
            key=WRITTEN,
            bind="query-params",
            on_change=picked,
            width=190,
        )
        step = (number or first + 1) - 1
        if len(names) <= MAX_BUTTONS:
            _draw_pills("Written", names, _WRITTEN_BUTTONS, step, choose)
        else:
            st.session_state[_WRITTEN_BUTTONS] = step
            st.selectbox(
                "Written",
                range(len(names)),
                format_func=lambda n: f"{n + 1} {names[n]}",
                key=_WRITTEN_BUTTONS,
                on_change=lambda: choose(st.session_state[_WRITTEN_BUTTONS]),
                label_visibility="collapsed",
            )
    return step, problem


def _requested_number() -> int | None:
    """Return the number that the user or the link has set, valid or not."""
    if address.is_restored():
        return None  # the field itself reads the number of the link
    try:
        number = int(st.session_state.get(WRITTEN, st.query_params.get(WRITTEN)))
    except (TypeError, ValueError):
        return None
    return None if number == st.session_state.get(_BY_DEFAULT) else number


def _draw_pills(
    label: str, names: Sequence[str], key: str, selected: int | None, choose: Callable[[int], None]
) -> None:
    """Draw one button for each name, one of them selected; `choose` gets the index of a click."""

    def changed() -> None:
        index = st.session_state[key]
        if index is not None:  # a second click on the same button deselects it
            choose(index)

    labels = make_unique(list(map(explanations.as_markdown, names)))
    st.session_state[key] = selected
    st.pills(
        label,
        range(len(labels)),
        format_func=labels.__getitem__,
        key=key,
        on_change=changed,
        label_visibility="collapsed",
    )


def step_choices(translator: Translator, trace: AttentionTrace) -> list[tuple[Choice, ...]]:
    """Return the written piece and the most probable alternatives at each step."""
    tokenizer = translator.target_tokenizer
    return cached(alternatives, translator.model, tokenizer, trace, ALTERNATIVES)


def least_certain_step(choices: Sequence[Sequence[Choice]]) -> int:
    """Return the step where the best alternative is nearest to the written piece."""
    # a rounded 0 is divided, too
    pairs = ([max(choice.probability, 1e-30) for choice in step[:2]] for step in choices)
    return int(np.argmin([own / other for own, other in pairs]))


def make_unique(labels: Sequence[str]) -> list[str]:
    """Append invisible characters to equal labels, by which Streamlit tells choices apart."""
    joiners = ("\u2060" * labels[:n].count(label) for n, label in enumerate(labels))
    return [label + joiner for label, joiner in zip(labels, joiners, strict=True)]


def pick_other(translator: Translator, written: int, choices: Sequence[Choice]) -> tuple[int, str]:
    """Draw alternatives to a piece and a field; return the chosen id, and a message or ""."""
    ids = _ids(translator)
    top = [ids[choice.piece] for choice in choices]
    piece, message = top[0], ""
    with st.container(key="other-controls", horizontal=True, gap="small"):
        entry = fields.text_input(
            "rather than",
            key=OTHER,
            autocomplete="off",
            placeholder="type another one",
            width=290,
            help="Its first subword counts. `·es` continues a word; `</s>` is the *end*.",
        )
        # no lone surrogates, and single spaces between words
        typed = " ".join(entry.encode(errors="replace").decode().split())
        try:
            if typed:
                piece = find_piece(translator, typed)
                if piece == written:
                    raise InputError(f"The model wrote {typed_text(typed)} itself: type another.")
                text = piece_text(translator, piece)
                if typed not in (shown_piece(text), text) and piece != EOS:
                    first = quoted(shown_piece(text))
                    message = f"The first subword of {quoted(typed)} counts: {first}."
        except InputError as error:
            piece, default = top[0], quoted(shown_piece(choices[0].piece))
            message = f"{problems.without_paths(error)} Until then you see {default}."

        def choose(index: int) -> None:
            st.session_state[OTHER] = piece_name(translator, top[index])

        names = [f"{shown_piece(c.piece)} {format_probability(c.probability)}" for c in choices]
        selected = top.index(piece) if piece in top else None
        _draw_pills("Most probable others", names, "other-pieces", selected, choose)
    return piece, message


def find_piece(translator: Translator, typed: str) -> int:
    """Find the id of a typed piece: as the screen shows it, or the first piece of the text.

    With `·` or SentencePiece's `▁` in front it is exactly this piece.
    """
    ids, special = _ids(translator), {text: n for n, text in (*SPECIAL.items(), (UNK, "<unk>"))}
    if typed in special:
        if special[typed] in decoding.NEVER_WRITTEN:
            raise InputError(f"{typed_text(typed)} is never written: choose another subword.")
        return special[typed]
    exact = typed.removeprefix(_CONTINUES) if len(typed) > 1 else typed
    if exact != typed or typed.startswith(WORD_START) or not any(map(str.isalnum, typed)):
        if exact in ids and ids[exact] not in decoding.NEVER_WRITTEN:
            return ids[exact]
        if exact != typed:
            message = "There is no subword {} inside a word: type another one."
            raise InputError(message.format(typed_text(exact)))
    pieces = translator.target_tokenizer.encode(typed)
    if next((piece for piece in pieces if piece != ids.get(WORD_START)), UNK) == UNK:
        message = "{} is not in the vocabulary of this model: type a word."
        raise InputError(message.format(typed_text(typed)))
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


def _ids(translator: Translator) -> dict[str, int]:
    ids = list(range(translator.model.config.vocab_size))
    tokenizer = translator.target_tokenizer
    return memory.memo(
        ("ids of pieces", translator.checksum),
        lambda: {piece.text: piece.id for piece in tokenizer.pieces_of(ids)},
    )
