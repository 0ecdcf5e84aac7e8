"""The translation in an editor, with undo and redo."""

from __future__ import annotations

import streamlit as st

from transformer import HeadlightError
from viz.app.chrome.mounts import mount_editor, say_late
from viz.app.sentence import search_request
from viz.app.sentence.search_request import SearchRequest
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw.alternatives import Edited, EditorPiece, Forced, encode_editor
from viz.pages.translate import clicks
from viz.pages.translate.clicks import scored

_REVISION = "translate.revision"


def show_editor(bar: BarTranslation) -> None:
    """Draw the translation of the bar in an editor, with its buttons."""
    request, tokenizer = bar.requested, bar.translator.target_tokenizer
    invalid = bool(request.edited) and not bar.used.edited
    try:
        pieces = [] if invalid else _pieces(bar)
    except HeadlightError:  # too long for the maps, which report it
        pieces = []

    def changed(change: Edited | Forced | None) -> None:
        if isinstance(change, Edited):
            st.session_state[_REVISION] = (
                change.revision
            )  # noted, even where the edit comes too late
        if change is None or not search_request.is_asked(request):
            say_late()
        elif isinstance(change, Edited):
            search_request.edit(change.text)
        else:
            prefix = [piece.text for piece in pieces[: change.piece]]
            other, _ = pieces[change.piece].others[change.alternative]
            clicks.force(tokenizer, [*prefix, other])

    data = encode_editor(
        request.edited.strip() and request.edited if request.edited else bar.translation.text,
        pieces,
        revision=st.session_state.get(_REVISION, 0),
        forced=0 if request.edited else min(len(bar.translation.prefix), len(pieces)),
        by_hand=bool(request.edited),
        languages=bar.translator.languages.for_text(request.text),
    )
    mount_editor("translate-editor", data, pieces, changed)
    _buttons(bar)


def _pieces(bar: BarTranslation) -> list[EditorPiece]:
    score = scored(bar)
    return [
        EditorPiece(
            piece.text, log_prob, tuple((other.piece, other.probability) for other in others)
        )
        for piece, log_prob, others in zip(
            score.pieces, score.log_probs, score.alternatives, strict=True
        )
    ]


def _buttons(bar: BarTranslation) -> None:
    with st.container(key="translate-edits", horizontal=True, gap="small"):
        st.button(
            "Undo",
            key="undo",
            icon=":material/undo:",
            type="tertiary",
            disabled=not search_request.can_undo(),
            on_click=search_request.undo,
        )
        st.button(
            "Redo",
            key="redo",
            icon=":material/redo:",
            type="tertiary",
            disabled=not search_request.history().undone,
            on_click=search_request.redo,
        )
        if bar.used.edited:
            st.button(
                "Let the model go on from here",
                key="go-on",
                type="tertiary",
                on_click=_go_on,
                args=(bar.requested, _edited_prefix(bar)),
                help="Forces what stands here as a prefix; the search finds how it goes on",
            )


def _go_on(request: SearchRequest, prefix: tuple[str, ...]) -> None:
    if search_request.is_asked(request):
        search_request.force(prefix)
    else:
        say_late()


def _edited_prefix(bar: BarTranslation) -> tuple[str, ...]:
    """Return the text in the editor as pieces of a prefix."""
    score = scored(bar)
    pieces = tuple(piece.text for piece in score.pieces)
    return pieces[:-1] if score.ended else pieces
