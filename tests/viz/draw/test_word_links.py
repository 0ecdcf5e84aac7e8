"""Messages for the picture of words: their texts by number, and the links between them."""

from tests.viz.draw.message import decode
from transformer.analysis.alignment import WordPair
from transformer.config import EOS, UNK
from transformer.text.languages import OURS
from transformer.text.tokenizer import Piece, Tokenizer
from viz.draw.word_links import DASHED, encode_links, word_texts

SOURCE, TARGET = ["Two", "dogs", "run"], ["Zwei", "Hunde"]
PAIRS = (WordPair(0, 0, 0.875), WordPair(2, 1, 1 / 3))


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


def test_the_links_travel_with_their_strengths() -> None:
    content = encode_links(
        SOURCE,
        TARGET,
        PAIRS,
        mutual=PAIRS[1:],
        made_by="layer 1",
        caption=["a", "b"],
        languages=OURS,
    )
    meta, _ = decode(content)
    links = [tuple(link.values()) for link in meta["links"]]
    assert links == [(0, 0, 0.875, False), (2, 1, 1 / 3, True)]
    assert DASHED in meta["note"]
    assert (meta["source"], meta["target"]) == (SOURCE, TARGET)
    assert (meta["madeBy"], meta["caption"]) == ("layer 1", ["a", "b"])
    meta, _ = decode(encode_links(SOURCE, TARGET, (), mutual=(), made_by="", languages=OURS))
    assert DASHED not in meta["note"]
    assert meta["links"] == []  # a translation of which nothing is linked
