"""Messages for the picture of words: their texts by number, and the links between them."""

from transformer.config import EOS, UNK
from transformer.text.tokenizer import Piece, Tokenizer
from viz.draw.word_links import word_texts


def test_words_have_their_numbers_and_stand_as_they_were_typed(tokenizer: Tokenizer) -> None:
    pieces = [
        Piece(5, "▁Two", 0),
        Piece(6, "▁fris", 1),
        Piece(7, "bee", 1),
        Piece(UNK, "🐶", 2),
        Piece(8, "▁", 3),
        Piece(9, "▁</s>", 4),
        Piece(EOS, "</s>", 5),
    ]
    assert word_texts(pieces) == ["Two", "frisbee", "🐶", "␣", "</s>"]
    assert word_texts(pieces[-1:]) == []
    typed = "The dog's 🐶, שלום <b>sleeps</b>."
    numbered = tokenizer.pieces(typed)
    words = word_texts(numbered)
    assert len(words) == numbered[-1].word + 1
    assert "".join(words) == typed.replace(" ", "")
