"""What travels for the editor: where each piece stands in a typed text, and what comes back."""

import math

import pytest

from tests.viz.draw.message import decode
from transformer.text.languages import OURS
from transformer.text.tokenizer import Tokenizer
from viz.draw.alternatives import (
    Edited,
    EditorPiece,
    Forced,
    edit_of,
    encode_editor,
    places_of,
)

TYPED = (
    "Zwei  schwarze Hunde rennen.",
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
    assert arrays["words"].tolist() == [0, 1, 2, 2, 3]
    assert arrays["logProbs"].tolist() == pytest.approx(
        [-3, math.log(0.5), math.log(0.5), 0, -math.inf]
    )
    assert (meta["text"], meta["revision"], meta["forced"]) == (text, 7, 2)
    assert meta["byHand"] is True
    labels = [piece["label"] for piece in meta["pieces"]]
    assert labels == ["🐶", "Zwei", "Hun", "·de", "</s>"]
    assert meta["pieces"][1]["others"][1] == {"raw": "▁Drei", "label": "Drei", "p": 0.125}


def test_a_text_without_pieces_travels_and_what_is_no_probability_does_not() -> None:
    for text in ("", "ganz anders"):
        meta, arrays = decode(encode_editor(text, (), revision=1, languages=OURS))
        assert meta["text"] == text
        assert arrays["spans"].shape == (0, 2)
    # pieces of another text have no place in this one
    _, arrays = decode(encode_editor("?", PIECES, revision=1, languages=OURS))
    assert arrays["spans"].tolist() == [[0, 0]] * 4
    bad = [
        ([EditorPiece("a", float("nan"))], 0, "nan"),
        ([EditorPiece("a", 0.1)], 0, "0.1"),
        ([EditorPiece("a", 0.0, (("b", 1.5),))], 0, "outside"),
        ([EditorPiece("a", 0.0)], 2, "2 of 1"),
    ]
    for pieces, forced, message in bad:
        with pytest.raises(ValueError, match=message):
            encode_editor("a", pieces, revision=0, forced=forced, languages=OURS)


def test_only_what_was_typed_or_chosen_among_these_pieces_is_taken() -> None:
    assert edit_of({"text": "Ein Hund", "revision": 3}, PIECES) == Edited("Ein Hund", 3)
    assert edit_of({"text": "", "revision": 1}, ()) == Edited("", 1)
    assert edit_of({"text": "a \ud800 b", "revision": 1}, ()) == Edited("a ? b", 1)
    chosen = {"force": 1, "alternative": 0, "prefix": "▁Zwei▁Hund"}
    assert edit_of(chosen, PIECES) == Forced(1, 0)
    refused: list[object] = [
        None,
        "text",
        [1, 2],
        {},
        {"text": "a"},
        {"text": "a", "revision": "1"},
        {"text": "a", "revision": True},
        {"text": "a", "revision": -1},
        {"text": 3, "revision": 1},
        {**chosen, "force": True},
        {**chosen, "force": 1.0},
        {**chosen, "force": -3},
        {**chosen, "force": 4},
        {**chosen, "alternative": 1},
        {**chosen, "alternative": -1},
        {**chosen, "prefix": None},
        {**chosen, "prefix": "▁Drei▁Hund"},  # of a sentence that is no longer there
        {"force": 2, "alternative": 0, "prefix": "▁Zwei▁Hun"},  # it has no alternative
    ]
    for value in refused:
        assert edit_of(value, PIECES) is None, value
