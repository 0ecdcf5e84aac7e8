import io
import re

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from transformer import CheckpointError, ConfigError, Tokenizer
from transformer.config import BOS, EOS, PAD, UNK

SPACE = "▁"


def texts_of(pieces):
    return [piece.text for piece in pieces]


def words_of(pieces):
    """The words, each put together from its pieces."""
    words: dict[int, str] = {}
    for piece in pieces:
        words[piece.word] = words.get(piece.word, "") + piece.text
    return [word.strip(SPACE) for word in words.values()]


def test_every_sentence_survives_the_round_trip(tokenizer, pairs):
    for text in (text for pair in pairs for text in pair):
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_many_sentences_at_once_are_encoded_as_one_by_one(tokenizer, pairs):
    lines = [pair.german for pair in pairs]
    assert tokenizer.encode_all(lines) == [tokenizer.encode(line) for line in lines]
    assert tokenizer.encode_all([]) == []


def test_the_special_pieces_have_the_ids_that_the_model_counts_on(tokenizer):
    # read by SentencePiece itself
    processor = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    ids = [processor.PieceToId(piece) for piece in ("<pad>", "<unk>", "<s>", "</s>")]
    assert ids == [PAD, UNK, BOS, EOS] == [0, 1, 2, 3]
    assert tokenizer.vocab_size == processor.GetPieceSize() == 160


def test_special_pieces_are_left_out_of_a_text(tokenizer):
    ids = tokenizer.encode("The dog")
    assert tokenizer.decode([BOS, *ids, EOS, PAD, PAD]) == "The dog"


@pytest.mark.parametrize("typed", ["</s>", "<pad>", "<s>"])
def test_a_special_piece_cannot_be_typed(tokenizer, typed):
    """A text that looks like the end of the sentence is only a text."""
    assert not {PAD, BOS, EOS} & set(tokenizer.encode(f"The dog {typed} sleeps"))


def test_a_compound_and_a_number_are_one_word_each(tokenizer):
    text = "The baker’s half-asleep dog doesn't eat 1.250,5 birds, does it?!"
    expected = "The baker’s half-asleep dog doesn't eat 1.250,5 birds , does it ?!"
    assert " ".join(words_of(tokenizer.pieces(text))) == expected


WORDS = ["dog", "Hund", "schläft", "garden", "Frosch", "don't", "grün-blau", "3,5", "zzz"]
MARKS = [".", "..", ",", "?!", "–", "“", "(", "😀", "😀😀", "✈"]


@st.composite
def sentences(draw):
    """(text, word of each character): words and marks, the marks glued on or not."""
    text = ""
    owner: list[int] = []
    glue_allowed = False
    for number in range(draw(st.integers(1, 8))):
        mark = draw(st.booleans())
        unit = draw(st.sampled_from(MARKS if mark else WORDS))
        if number and not (mark and glue_allowed and draw(st.booleans())):
            text, owner = text + " ", [*owner, number]  # a space belongs to what follows
        text, owner = text + unit, owner + [number] * len(unit)
        glue_allowed = not mark
    return text, owner


@given(sentence=sentences())
def test_each_piece_belongs_to_the_word_of_its_first_letter(tokenizer, sentence):
    """Known from how the text was made; unknown characters stand in it as they were typed."""
    text, owner = sentence
    pieces = tokenizer.pieces(text)
    assert "".join(texts_of(pieces)) == SPACE + text.replace(" ", SPACE)
    position, expected = -1, []  # the piece at the beginning has a space that was not typed
    for piece in pieces:
        expected.append(owner[max(position, 0)])
        position += len(piece.text)
    # words are counted without those that stand inside another word's piece
    order = list(dict.fromkeys(expected))
    assert [piece.word for piece in pieces] == [order.index(word) for word in expected]


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_words_are_counted_without_gaps_whatever_is_typed(tokenizer, text):
    words = [piece.word for piece in tokenizer.pieces(text)]
    assert words == sorted(words)
    assert set(words) == set(range(len(set(words))))


def test_an_unknown_character_is_shown_as_it_was_typed(tokenizer):
    pieces = tokenizer.pieces("The 😀 dog")
    assert [(p.text, p.word) for p in pieces if p.id == UNK] == [("😀", 1)]
    assert words_of(pieces) == ["The", "😀", "dog"]


def test_special_pieces_are_words_of_their_own(tokenizer):
    ids = tokenizer.encode("The dog")
    pieces = tokenizer.pieces_of([BOS, *ids, EOS, PAD])
    assert words_of(pieces) == ["<s>", "The", "dog", "</s>", "<pad>"]


def test_a_lone_space_before_the_end_is_a_word_of_its_own(tokenizer):
    """A model may write one; it must join neither the end nor the word before it."""
    (space,) = (piece.id for piece in tokenizer.pieces("😀") if piece.text == SPACE)
    pieces = tokenizer.pieces_of([*tokenizer.encode("The"), space, EOS])
    assert [(p.text, p.word) for p in pieces] == [("▁The", 0), (SPACE, 1), ("</s>", 2)]


CHINESE = ["".join(chr(0x4E00 + (7 * i + j) % 700) for j in range(20)) for i in range(400)]


@pytest.mark.parametrize(
    ("lines", "size", "advice"),
    [
        (
            ["The dog sleeps.", "Der Hund schläft."],
            5000,
            r"at most (\d+); set vocab_size = \1 or less",
        ),
        (CHINESE, 300, r"alone take (\d+); set vocab_size = \1 or more"),
        (["The dog sleeps."], 5, r"alone take (\d+); set vocab_size = \1 or more"),
    ],
)
def test_the_nearest_size_that_is_possible_is_named(lines, size, advice):
    with pytest.raises(ConfigError, match=f"vocabulary of {size} pieces") as caught:
        Tokenizer.train(lines, vocab_size=size)
    match = re.search(advice, str(caught.value))
    assert match
    nearest = int(match[1])
    assert Tokenizer.train(lines, vocab_size=nearest).vocab_size == nearest
    beyond = nearest + (1 if nearest < size else -1)
    with pytest.raises(ConfigError, match=str(nearest)):
        Tokenizer.train(lines, vocab_size=beyond)


@pytest.mark.parametrize("lines", [[], ["", " "]])
def test_a_text_without_a_character_is_called_that(lines):
    with pytest.raises(ConfigError, match="it has no characters to learn from"):
        Tokenizer.train(lines, vocab_size=40)


@pytest.mark.parametrize("model", [b"", b"not a model"], ids=str)
def test_what_is_no_sentencepiece_model_is_refused(model):
    with pytest.raises(CheckpointError, match=r"tokenizer\.model"):
        Tokenizer(model)


def test_a_foreign_model_with_other_special_ids_is_refused(pairs):
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter([pair.english for pair in pairs]),
        model_writer=written,
        vocab_size=80,
        model_type="bpe",
        minloglevel=2,
    )
    with pytest.raises(CheckpointError, match="special pieces"):
        Tokenizer(written.getvalue())


def test_a_file_is_loaded_and_a_missing_one_is_named(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.model"
    with pytest.raises(CheckpointError, match=r"tokenizer\.model cannot be read"):
        Tokenizer.load(path)
    path.write_bytes(tokenizer.model)
    assert Tokenizer.load(path).encode("The dog") == tokenizer.encode("The dog")
