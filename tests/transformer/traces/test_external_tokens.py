"""Tokens of other tokenizers become our pieces, and belong to the words of their text."""

from types import SimpleNamespace

import pytest

from transformer import InputError, Piece
from transformer.text.special_tokens import SpecialTokens
from transformer.traces.external_tokens import checked_tokens, pieces_of, text_of
from transformer.traces.vocabulary import Vocabulary


def spelt(tokens, vocabulary=tuple, added=None):
    """Texts and words of the pieces, and the text that they are put together to."""
    special = SpecialTokens.among(tokens)
    pieces = pieces_of(tokens, special, vocabulary, added)
    assert all(piece.id == -1 for piece in pieces)
    return [p.text for p in pieces], [p.word for p in pieces], text_of(pieces, special)


@pytest.mark.parametrize(
    ("tokens", "texts", "words", "text"),
    [
        pytest.param(
            ["<s>", "▁The", "▁fris", "bee", ",", "▁2", ".", "5", "▁m", ".", "</s>"],
            ["<s>", "▁The", "▁fris", "bee", ",", "▁2", ".", "5", "▁m", ".", "</s>"],
            [0, 1, 2, 2, 3, 4, 4, 4, 5, 6, 7],
            "The frisbee, 2.5 m.",
            id="SentencePiece",
        ),
        pytest.param(
            ["▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "▁x", "<0x0A>", "y"],
            ["▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "▁x", "↵", "▁y"],
            [0, 0, 0, 0, 0, 1, 2, 3],
            "😀 x↵ y",
            id="bytes of SentencePiece",
        ),
        pytest.param(
            ["Hel", "lo", ",", "Ġcaf", "Ã©", "ĠðŁ", "ĺ", "Ģ", "!", "Ċ", "Bye", "<|endoftext|>"],
            ["▁Hel", "lo", ",", "▁caf", "é", "▁<0xF0><0x9F>", "<0x98>", "<0x80>", "!", "↵", "▁Bye",
             "<|endoftext|>"],
            [0, 0, 1, 2, 2, 3, 3, 3, 3, 3, 4, 5],
            "Hello, café 😀!↵ Bye",
            id="byte-level",
        ),
        pytest.param(
            ["æĪĳ", "çĪ±", "åĮĹäº¬"], ["▁我", "爱", "北京"], [0, 1, 2], "我爱北京",
            id="byte-level without a space",
        ),
        pytest.param(
            ["K", "Ã¶", "ln", "ðŁĺ"], ["▁K", "ö", "ln", "<0xF0><0x9F><0x98>"], [0, 0, 0, 1],
            "Köln<0xF0><0x9F><0x98>", id="byte-level with a character that is cut",
        ),
        pytest.param(
            ["The", "Ġ", "Müller", "Ġvirus", " 新冠", "José", "ĠfÃ¼r", "Čapek", "Ġ新"],
            ["▁The", "▁", "Müller", "▁virus", "▁新冠", "José", "▁für", "Čapek", "▁新"],
            [0, 1, 1, 2, 3, 4, 5, 5, 6],
            "The Müller virus 新冠José fürČapek 新",
            id="words that were added to byte-level",
        ),
        pytest.param(["ðŁĺĢ"], ["😀"], [0], "😀", id="a lone emoji in byte-level"),
        pytest.param(
            ["ðŁĺ", "Ģ"], ["<0xF0><0x9F><0x98>", "<0x80>"], [0, 0], "😀",
            id="an emoji in two pieces",
        ),
        pytest.param(
            ["naÃ¯", "ve"], ["▁naï", "ve"], [0, 0], "naïve", id="one word in byte-level",
        ),
        pytest.param(
            ["à¸", "ī", "à¸±à¸Ļ"], ["▁<0xE0><0xB8>", "<0x89>", "ัน"], [0, 0, 0], "ฉัน",
            id="Thai in byte-level",
        ),
        pytest.param(["été", "Ça"], ["été", "Ça"], [0, 1], "été Ça", id="words of Latin-1"),
        pytest.param(
            ["▁l-", "Ġ", "urn", "ata"], ["▁l-", "Ġ", "urn", "ata"], [0, 0, 0, 0], "l-Ġurnata",
            id="Maltese in SentencePiece",
        ),
        pytest.param(
            ["[CLS]", "the", "fris", "##bee", "don", "'", "t", ".", ".", "[SEP]", "a", "_", "##b"],
            ["[CLS]", "▁the", "▁fris", "bee", "▁don", "'", "▁t", ".", ".", "[SEP]", "▁a", "_", "b"],
            [0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10],
            "the frisbee don' t.. | a_b",
            id="WordPiece with a pair",
        ),
        pytest.param(
            ["low", "er</w>", "new</w>", ".</w>"],
            ["▁low", "er", "▁new", "."],
            [0, 0, 1, 2],
            "lower new.",
            id="end of a word marked",
        ),
        pytest.param(
            ["low@@", "er", "new", "."],
            ["▁low", "er", "▁new", "."],
            [0, 0, 1, 2],
            "lower new.",
            id="rest of a word marked",
        ),
        pytest.param(
            ["«￭", "Un￭", "believ￭", "able", "￭,", "well", "￭-￭", "known", "￭'s", "3", "￭.￭", "5",
             "￭»"],
            ["▁«", "Un", "believ", "able", ",", "▁well", "-", "known", "'s", "▁3", ".", "5", "»"],
            [0, 1, 1, 1, 2, 3, 3, 3, 3, 4, 4, 4, 5],
            "«Unbelievable, well-known's 3.5»",
            id="joiners",
        ),
        pytest.param(
            ["un", "￭", "able", "<s>", "￭s", "a"],
            ["▁un", "", "able", "<s>", "▁s", "▁a"],
            [0, 0, 0, 1, 2, 3],
            "unable | s a",
            id="joiners of their own",
        ),
        pytest.param(
            ["Hi", " the", "re", "!"], ["▁Hi", "▁the", "re", "!"], [0, 1, 1, 2], "Hi there!",
            id="decoded",
        ),
        pytest.param(
            ["the", "cat", "in the hat", "\n\x00"],
            ["the", "cat", "in the hat", "↵␀"],
            [0, 1, 2, 3],
            "the cat in the hat ↵␀",
            id="words",
        ),
        pytest.param(["Ġorġ", "Ġanni"], ["Ġorġ", "Ġanni"], [0, 1], "Ġorġ Ġanni", id="Maltese"),
        pytest.param(
            ["a", " ", "å", "\x8c", "\x97", "K", "Ã", "¶"],
            ["▁a", "▁", "<0xE5>", "<0x8C>", "<0x97>", "K", "<0xC3>", "<0xB6>"],
            [0, 1, 1, 1, 1, 2, 2, 2],
            "a 北Kö",
            id="a character for each byte, ByT5",
        ),
        pytest.param(
            ["æ", "\x9d", "±", "ä", "º", "¬", " ", "o", "k"],
            ["▁<0xE6>", "<0x9D>", "<0xB1>", "<0xE4>", "<0xBA>", "<0xAC>", "▁", "o", "k"],
            [0, 0, 0, 1, 1, 1, 2, 2, 2],
            "東京 ok",
            id="bytes alone, ByT5",
        ),
        pytest.param(["é", "t", "é"], ["é", "t", "é"], [0, 1, 2], "é t é", id="characters"),
        pytest.param([], [], [], "", id="none"),
    ],
)  # fmt: skip
def test_the_marks_of_a_tokenizer(tokens, texts, words, text) -> None:
    assert spelt(tokens) == (texts, words, text)


def test_a_vocabulary_tells_the_marks_that_a_short_text_does_not_have() -> None:
    assert spelt(["token", "ization"])[1] == [0, 1]
    assert spelt(["token", "ization"], lambda: ["a", "Ġb"])[:2] == (["▁token", "ization"], [0, 0])
    assert spelt(["<|im_start|>", "to", "do"], lambda: ["▁a"])[1] == [0, 1, 1]
    assert spelt(["ðŁĺ"], lambda: ["a", "Ġb"])[0] == [
        "<0xF0><0x9F><0x98>"
    ]  # a character that is cut


def test_a_tokenizer_tells_which_words_were_added_to_it() -> None:
    """“sÃ” may be bytes or a text."""
    assert spelt(["Ġsa", "sÃ"], added=())[0] == ["▁sa", "s<0xC3>"]
    assert spelt(["Ġsa", "sÃ"], added={"sÃ"})[0] == ["▁sa", "sÃ"]
    assert spelt(["Ġa", " 新冠"])[2] == "a 新冠"
    assert spelt(["K", "Ã¶ln"], lambda: ["Ġa", "Ġb"], {" 新冠"})[2] == "Köln"


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("abc", r"one text, 'abc': give a list"),
        (["a", 3], r"Token 2 of the source is 3 and no string"),
        (["a", "b\ud83d"], r"Token 2 of the source .* half a character"),
    ],
)
def test_what_is_no_list_of_tokens_is_refused(tokens, message) -> None:
    with pytest.raises(InputError, match=message):
        checked_tokens(tokens, "source")


def test_what_names_no_ids_is_refused_by_its_type() -> None:
    with pytest.raises(InputError, match=r"^A Piece cannot name ids") as caught:
        Vocabulary(Piece(-1, "x" * 9_999, 0))
    assert len(str(caught.value)) < 150


def test_special_characters_without_a_form_are_named_by_their_number() -> None:
    """CANINE."""
    canine = SimpleNamespace(
        convert_ids_to_tokens=lambda ids: [*map(chr, ids)], all_special_tokens=["\ue000", "\ue001"],
        bos_token="\ue000", eos_token="\ue001", cls_token="\ue000", sep_token="\ue001",
    )  # fmt: skip
    vocabulary = Vocabulary(canine)
    assert vocabulary.texts([0xE000, 65, 0xE001], "source") == ("<U+E000>", "A", "<U+E001>")
    assert vocabulary.special == {"<U+E000>", "<U+E001>"}
    assert vocabulary.ends == {"<U+E001>"}
