"""Alternatives to the subwords of a translation: data for `step_bars` and the editor."""

import math
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from transformer.config import EOS
from transformer.text.languages import Languages, code_of_name
from transformer.text.tokenizer import SPECIAL, WORD_START
from transformer.text.words import words_in
from viz.draw.labels import display_tokens
from viz.draw.wire import encode_picture, is_index

BARS_TITLE = "What the model held probable at each step"
BARS_NOTE = (
    "All bars from 0 to 1. Bold: what the model wrote. Click another subword to continue with it."
)
_SKIPPED = 8  # letters that a tokenizer may leave out in one place


@dataclass(frozen=True)
class EditorPiece:
    """A piece of the translation, and the model's alternatives."""

    text: str  # as `Piece.text`, a leading space written as `▁`; `</s>` for the end of the sentence
    log_prob: float  # given the source and all pieces before it, natural logarithm
    # the other pieces of this place with their probabilities, most probable first
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Edited:
    """A text that was typed, and its number in the order of typing."""

    text: str
    revision: int


def encode_editor(
    text: str,
    pieces: Sequence[EditorPiece],
    *,
    revision: int,
    forced: int = 0,
    by_hand: bool = False,
    constrained: bool = False,
    languages: Languages,
) -> bytes:
    """Encode a text with the probabilities of its pieces.

    An answer to a typed text has that very text. `</s>` is the last piece where its probability is
    known. `revision` is that of the last text that the page received, 0 before; `forced` counts the
    leading pieces that were forced; `constrained` is whether the search had other constraints.
    """
    translation = "a translation"
    if languages.target:
        translation = languages.with_article("target", "translation")
    spans, words = places_of(text, [piece.text for piece in pieces])
    # a browser counts in UTF-16
    units = [0, *accumulate(1 + (ord(letter) > 0xFFFF) for letter in text)]
    places = np.array([[units[start], units[end]] for start, end in spans], dtype=np.uint32)
    message = {
        "title": f"{languages.target or 'Translation'}, edited in place",
        "placeholder": f"Type {translation}",
        "language": code_of_name(languages.target),
        "text": text,
        "revision": revision,
        "forced": forced,
        "byHand": by_hand,
        "constrained": constrained,
        "pieces": [
            {"raw": written["raw"], "label": written["label"], "others": others}
            for written, *others in _labelled(pieces)
        ],
        "spans": places.reshape(-1, 2),
        "words": words,
        "logProbs": np.array([min(p.log_prob, 0.0) for p in pieces], dtype=np.float32),
    }
    return encode_picture("translation_editor", (), message)


def edit_of(value: object, pieces: Sequence[EditorPiece]) -> Edited | list[str] | None:
    """Return the typed text, or the pieces to force; None if malformed, or of other pieces."""
    if not isinstance(value, Mapping):
        return None
    text, revision = value.get("text"), value.get("revision")
    if isinstance(text, str) and type(revision) is int and revision > 0:
        # JSON may have half a character, which no text field takes
        return Edited(text.encode(errors="replace").decode(), revision)
    return choice_of(value, pieces, "force")


def places_of(text: str, pieces: Sequence[str]) -> tuple[list[tuple[int, int]], list[int]]:
    """Return first and last character, exclusive, of each piece in a text, and its word from 0.

    The pieces are those of the text in NFKC, as SentencePiece reads it. A piece that is not in the
    text, such as `</s>`, has an empty place after the one before it.
    """
    read, origins = _normalized(text)
    starts = [match.start() for match in words_in(read)]
    place = 0  # in `read`
    spans: list[tuple[int, int]] = []
    words: list[int] = []
    numbers: dict[int, int] = {}  # so that there are no gaps
    for piece in pieces:
        letters = piece.replace(WORD_START, " ").strip()
        while place < len(read) and read[place].isspace():
            place += 1
        is_end = piece == SPECIAL[EOS]  # a separate word
        at = -1
        if letters and not is_end:
            at = read.find(letters, place, place + len(letters) + _SKIPPED)
        if at < 0:
            word = len(starts) if is_end else bisect_right(starts, place) - 1
            empty = origins[place][0] if place < len(read) else len(text)
            spans.append((empty, empty))
        else:
            word = bisect_right(starts, at) - 1
            place = at + len(letters)
            spans.append((origins[at][0], origins[place - 1][1]))
        words.append(numbers.setdefault(word, len(numbers)))
    return spans, words


def _normalized(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Normalise a text to NFKC; return it with the origin of each character."""
    letters: list[str] = []
    origins: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1  # a letter and its accents become one letter
        letters += (made := unicodedata.normalize("NFKC", text[start:end]))
        origins += [(start, end)] * len(made)
        start = end
    return "".join(letters), origins


def encode_bars(pieces: Sequence[EditorPiece], *, caption: Sequence[str] = ()) -> bytes:
    """Encode a column of probabilities for each step: the written piece, then the others."""
    message = {"title": BARS_TITLE, "note": BARS_NOTE, "steps": _labelled(pieces)}
    return encode_picture("step_bars", caption, message)


def _labelled(pieces: Sequence[EditorPiece]) -> list[list[dict[str, str | float]]]:
    """Return each written piece and its alternatives, with labels and probabilities."""
    steps = [[(piece.text, math.exp(piece.log_prob)), *piece.others] for piece in pieces]
    # all at once, so that a piece is marked alike wherever it stands
    labels = iter(display_tokens([text for step in steps for text, _ in step]))
    return [
        [{"raw": text, "label": next(labels), "p": min(p, 1.0)} for text, p in step]
        for step in steps
    ]


def choice_of(value: object, pieces: Sequence[EditorPiece], name: str = "step") -> list[str] | None:
    """Return the pieces up to the clicked alternative; None if malformed, or of other pieces."""
    if not isinstance(value, Mapping):
        return None
    at, alternative = value.get(name), value.get("alternative")
    if not is_index(at, len(pieces)) or not is_index(alternative, len(pieces[at].others)):
        return None
    forced = [*(piece.text for piece in pieces[:at]), pieces[at].others[alternative][0]]
    return forced if value.get("prefix") == "".join(forced) else None
