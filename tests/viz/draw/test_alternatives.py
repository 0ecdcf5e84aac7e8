"""Messages of the editor and of the bars of each step, and what is taken of an answer."""

import math

import pytest

from tests.viz.draw.message import decode
from transformer.text.languages import OURS
from transformer.text.tokenizer import Tokenizer
from viz.draw.alternatives import (
    Edited,
    EditorPiece,
    choice_of,
    edit_of,
    encode_bars,
    encode_editor,
    places_of,
)

TYPED = (
    "  Ein Mann geht's 3,5 m… ﬁn u\u0308ber 👩‍🚀 שלום Straße—ja , nein. ",
    "x\u200dy \u00adFoo\tbar",
    "(ja)«oh»",
)
PIECES = (
    EditorPiece("▁Zwei", math.log(0.5), (("▁Ein", 0.25), ("▁Drei", 0.125))),
    EditorPiece("▁Hun", math.log(0.5), (("▁Hund", 0.25),)),
    EditorPiece("de", 1e-6),
    EditorPiece("</s>", float("-inf"), (("▁rennen", 1.0),)),
)


@pytest.mark.parametrize("text", TYPED)
def test_every_piece_stands_at_its_letters_and_words_are_those_of_the_tokenizer(
    tokenizer: Tokenizer, text: str
) -> None:
    pieces = tokenizer.pieces(text)
    spans, words = places_of(text, [piece.text for piece in pieces])
    assert spans == sorted(spans)
    covered = {place for start, end in spans for place in range(start, end)}
    assert "".join(text[n] for n in sorted(covered)) == "".join(text.split())
    assert words == [piece.word for piece in pieces]


def test_pieces_travel_with_their_places_in_the_browsers_units() -> None:
    text = "🐶 Zwei Hunde"
    dog = EditorPiece("🐶", -3.0)
    meta, arrays = decode(
        encode_editor(text, [dog, *PIECES], revision=7, forced=2, by_hand=True, languages=OURS)
    )
    # an emoji has two units in JavaScript, and the end of the sentence none
    assert arrays["spans"].tolist() == [[0, 2], [3, 7], [8, 11], [11, 13], [13, 13]]
    assert meta["words"] == [0, 1, 2, 2, 3]
    assert arrays["logProbs"].tolist() == pytest.approx(
        [-3, math.log(0.5), math.log(0.5), 0, -math.inf]
    )
    assert (meta["text"], meta["revision"], meta["forced"]) == (text, 7, 2)
    assert meta["byHand"] is True
    labels = [piece["label"] for piece in meta["pieces"]]
    assert labels == ["🐶", "Zwei", "Hun", "·de", "end"]
    assert meta["pieces"][1]["others"][1] == {"raw": "▁Drei", "label": "Drei", "p": 0.125}


def test_a_text_without_its_pieces_travels() -> None:
    for text in ("", "ganz anders"):
        meta, arrays = decode(encode_editor(text, (), revision=1, languages=OURS))
        assert meta["text"] == text
        assert arrays["spans"].shape == (0, 2)
    # pieces of another text have no place in this one
    _, arrays = decode(encode_editor("?", PIECES, revision=1, languages=OURS))
    assert arrays["spans"].tolist() == [[0, 0]] * 4


def test_only_what_was_typed_or_chosen_among_these_pieces_is_taken() -> None:
    assert edit_of({"text": "Ein Hund", "revision": 3}, PIECES) == Edited("Ein Hund", 3)
    assert edit_of({"text": "", "revision": 1}, ()) == Edited("", 1)
    assert edit_of({"text": "a \ud800 b", "revision": 1}, ()) == Edited("a ? b", 1)
    chosen = {"force": 1, "alternative": 0, "prefix": "▁Zwei▁Hund"}
    assert edit_of(chosen, PIECES) == ["▁Zwei", "▁Hund"]
    refused: list[object] = [
        None,
        [1, 2],
        *({"text": "a", "revision": revision} for revision in (None, "1", True, -1)),
        {"text": 3, "revision": 1},
        *({**chosen, "force": force} for force in (True, -3, 4)),
        *({**chosen, "alternative": alternative} for alternative in (1, -1)),
        {**chosen, "prefix": "▁Drei▁Hund"},  # of a sentence that is no longer there
        {"force": 2, "alternative": 0, "prefix": "▁Zwei▁Hun"},  # it has no alternative
    ]
    for value in refused:
        assert edit_of(value, PIECES) is None, value


STEPS = (
    EditorPiece("▁Zwei", math.log(0.75), (("▁Ein", 0.125), ("▁Drei", 0.0625))),
    EditorPiece("▁Hun", math.log(0.25), (("▁Hund", 0.5),)),
    EditorPiece("de", 0.0),
)


def test_steps_travel_with_what_was_probable() -> None:
    message, _ = decode(encode_bars(STEPS, caption=["a"]))
    for step, piece in zip(message["steps"], STEPS, strict=True):
        written, *others = [(option["raw"], option["p"]) for option in step]
        assert written == (piece.text, pytest.approx(math.exp(piece.log_prob)))
        assert others == [*piece.others]
    labels = [option["label"] for step in message["steps"] for option in step]
    assert labels == ["Zwei", "Ein", "Drei", "Hun", "Hund", "·de"]
    assert message["caption"] == ["a"]


def test_only_a_choice_among_these_steps_is_taken() -> None:
    chosen = {"step": 0, "alternative": 1, "prefix": "▁Drei"}
    assert choice_of(chosen, STEPS) == ["▁Drei"]
    second = {"step": 1, "alternative": 0, "prefix": "▁Zwei▁Hund"}
    assert choice_of(second, STEPS) == ["▁Zwei", "▁Hund"]
    refused: list[object] = [
        [0, 1],
        {"step": 0, "alternative": 1},
        {**chosen, "step": 3},
        {**chosen, "alternative": 2},
        {**chosen, "prefix": "▁Ein"},
        {"step": 2, "alternative": 0, "prefix": "▁Zwei▁Hunde"},
    ]
    for value in refused:
        assert choice_of(value, STEPS) is None, value
