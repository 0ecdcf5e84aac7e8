"""SentencePiece cuts and vocab.json numbers: pieces, words and languages of a MarianMT folder."""

import json

import pytest

from tests.transformer.checkpoints.marian import marian_folder
from transformer import InputError, Translator, config
from transformer.analysis import alignment, axes
from transformer.analysis.alignment_settings import read_alignment
from transformer.checkpoints.marian.tokenizer import MarianTokenizer
from transformer.corpus import faithfulness

TEXT = "My brother sees a cat."


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """Into French or German; its folder is not called by a language."""
    folder = tmp_path_factory.mktemp("several")
    return Translator.load(marian_folder.write(folder, codes=marian_folder.CODES))


@pytest.fixture(scope="module")
def separate(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return Translator.load(marian_folder.write(tmp_path_factory.mktemp("separate"), separate=True))


def marians(translator: Translator, ids: list[int]) -> list[int]:
    """Our ids as Marian's numbers."""
    tokenizer = translator.tokenizer
    assert isinstance(tokenizer, MarianTokenizer)
    return [tokenizer.vocabulary.numbers[tokenizer.vocabulary.texts[id_]] for id_ in ids]


def test_pieces_are_cut_by_the_spm_and_numbered_by_the_vocabulary(several: Translator) -> None:
    numbers = json.loads((several.folder / "vocab.json").read_text())
    for text in marian_folder.SOURCE:
        cut = marian_folder.spm_of(marian_folder.SOURCE).EncodeAsPieces(text)
        expected = [numbers.get(piece, numbers["<unk>"]) for piece in cut]
        assert marians(several, several.tokenizer.encode(text)) == expected
        assert [piece.text for piece in several.tokenizer.pieces(text)] == cut
        assert several.tokenizer.decode(several.tokenizer.encode(text)) == text


def test_each_language_has_its_own_cut_and_ids(separate: Translator) -> None:
    text = marian_folder.TARGET[0]
    source, target = separate.tokenizer, separate.target_tokenizer
    assert (source.vocab_size, target.vocab_size) == (
        separate.model.config.source_vocab_size,
        separate.model.config.vocab_size,
    )
    assert target.decode(target.encode(text)) == text
    assert source.encode(text) != target.encode(text)
    texts = [piece.text for piece in target.pieces(text)]
    assert target.ids_of(texts) == target.encode(text)
    with pytest.raises(InputError, match="is not a piece of this model's vocabulary"):
        source.ids_of(texts)


def test_an_unknown_character_keeps_its_typed_text(several: Translator) -> None:
    pieces = several.tokenizer.pieces("My 🐈 cat")
    assert ("🐈", config.UNK) in [(piece.text, piece.id) for piece in pieces]
    assert any("🐈" in notice for notice in several.translate("My 🐈 cat", max_length=5).notices)


def test_words_are_counted_on_both_sides(separate: Translator) -> None:
    # what SentencePiece makes two words of was typed as one
    source, target = TEXT, "Mon frère voit un a´b."
    trace = separate.trace(source, target=target)
    own, given = alignment.word_numbers(separate, trace, "typed")
    assert max(own) == len(source.split()) - 1
    assert max(given) == len(target.split()) - 1
    assert own[-1] == given[-1] == alignment.NO_WORD
    pairs = alignment.align(separate, trace, words="typed")
    assert all(pair.source < 5 and pair.target < 5 for pair in pairs)
    assert read_alignment(separate).gold is None
    assert read_alignment(separate).describe().endswith("never measured on gold links")


def test_a_code_in_front_is_one_piece(several: Translator) -> None:
    assert several.languages.codes == ("fra", "deu")
    asked = several.languages.with_target_code("deu", TEXT)
    assert asked == f">>deu<< {TEXT}"
    code, *rest = several.tokenizer.pieces(asked)
    assert code.text == ">>deu<<"
    traced = several.trace(asked, "Le chat.")
    hidden, _ = axes.without_special(axes.by_words(traced, "cross"))
    assert code.text in traced.source_tokens
    assert code.text not in hidden.labels.keys  # it is not a word of the text
    assert faithfulness.source_words(traced)[0][0] == 1
    assert [piece.id for piece in rest] == several.tokenizer.encode(TEXT)
    assert rest[0].word == code.word + 1
    assert several.languages.with_target_code("fra", asked) == f">>fra<< {TEXT}"
    assert several.translate(asked, max_length=5).notices[0].startswith("The model did not end")
    notice = several.translate(TEXT, max_length=5).notices[0]
    assert notice.endswith("was not told which one: begin the text with >>fra<< or >>deu<<.")
    assert several.translate(asked, max_length=5).best.pieces != ()
    first, second = (several.score(f">>{c}<< {TEXT}", "Le chat.").log_prob for c in ("fra", "deu"))
    assert first != second


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">>spa<< My brother", "does not write the language “spa”"),
        (">>fra<<  ", "The text is empty: type an English sentence."),
    ],
)
def test_a_code_that_the_model_does_not_have(several: Translator, text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        several.translate(text)
    assert expected in str(caught.value)


def test_what_the_model_translates_is_said_by_name(several, separate):
    assert (separate.source_language, separate.target_language) == ("English", "French")
    with pytest.raises(InputError, match=r"The translation is empty: type a French sentence\."):
        separate.trace(TEXT, target=" ")
    # one of several languages: what is written depends on the text
    assert several.target_language == "target"
    assert several.languages.target_of(f">>deu<< {TEXT}") == "German"
    assert several.languages.target_of(TEXT) == "target"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("opus-mt-uk-tc", ("Ukrainian", "target")),
        ("opus-mt-tc-big-fi-en", ("Finnish", "English")),
        ("opus-mt-tc-big-cat_oci_spa-en", ("source", "English")),
        ("models--Helsinki-NLP--opus-mt-de-fr/snapshots/0a1b", ("German", "French")),
        ("mine", ("source", "target")),
    ],
)
def test_else_the_folder_s_name_says_it(name, expected, tmp_path):
    folder = marian_folder.write(tmp_path / name)
    (folder / "tokenizer_config.json").unlink()
    translator = Translator.load(folder)
    assert (translator.source_language, translator.target_language) == expected
    with pytest.raises(InputError) as caught:
        translator.translate("")
    wanted = {"Ukrainian": "a Ukrainian sentence", "source": "a sentence"}
    if expected[0] in wanted:
        assert str(caught.value).endswith(f"type {wanted[expected[0]]}.")
