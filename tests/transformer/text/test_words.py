import pytest

from transformer.errors import InputError
from transformer.text.words import ForbiddenWords, has_letter, number_words

TEXTS = ("\0", "\0", "\0", "\0", " Mann", "schaft")
MANN, SCHAFT = 4, 5
EOS = 3


def test_at_the_length_limit_any_piece_ends_the_text():
    forbidden = ForbiddenWords.from_words(["Mann"], TEXTS)
    assert forbidden.completes("", MANN, last=True)
    assert not forbidden.completes("", MANN)
    assert not forbidden.completes(" Mann", SCHAFT, last=True)


@pytest.mark.parametrize("typed", ["", "zwei Worte", "Mann."])
def test_what_is_not_one_word_is_refused(typed):
    with pytest.raises(InputError, match="one word at a time, without spaces and without punct"):
        ForbiddenWords.from_words([typed], TEXTS)


@pytest.mark.parametrize(
    "words",
    [
        ["हिन्दी", " भाषा"],
        ["cafe\u0301", "-", " au", " lait"],
        ["مُحَمَّد"],
        ["می\u200cخواهم"],  # a joiner keeps its letters apart, but in one word
        ["น้ำ", " ดี"],
        ["a", "❤\ufe0f", "b", " 👩\u200d🚀", " x"],  # marks of an emoji stay with it
        ["v2.5", " B", ".", "1"],
    ],
)
def test_marks_stay_in_their_word(words):
    text = "".join(words)
    expected = [number for number, word in enumerate(words) for _ in word]
    assert number_words([*text]) == expected


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["我爱", "北京", "。"], [0, 1, 2]),
        (["ฉัน", "กิน", "ข้าว", " ๒๕", "๖๗"], [0, 1, 2, 3, 3]),  # digits are a number
        ([" i", "Phone", "手机", "很好", " 3", "月", " T", "恤"], [0, 0, 1, 2, 3, 4, 5, 6]),
        ([" ក", "្", "ម", "ក"], [0, 0, 0, 1]),  # a letter below another is part of it
        ([" 대한", "민국", "은"], [0, 0, 0]),  # Korean has spaces
    ],
)
def test_where_no_spaces_are_written_each_piece_is_a_word(pieces, expected):
    assert number_words(pieces) == expected


@pytest.mark.parametrize(
    ("word", "text", "has"),
    [
        ("Mann", " Ein Mann", True),
        ("Mann", " Mann.", True),
        ("Mann", " „Mann“", True),
        ("Mann", " Mann-", True),  # a hyphen at the end joins nothing
        ("Mann", " mann", False),
        ("Mann", " Manns", False),
        ("Mann", " E-Mann", False),
        ("Mann", " Mann’s", False),
        ("Mann", " Männer Ma nn", False),
        ("3", " 3,5", False),
        ("3,5", " 3,5.5", False),
        ("3,5", " 3,5.", True),
        ("5", " B.5", True),  # a letter with its full stop, and a number
        (".", " Mann..", False),
        ("हिन", " हिन्दी", False),
        ("桌子", "我的桌子很大", True),
        ("桌子", "桌子", True),
        ("桌子", "桌 子", False),
        ("桌子", "桌桌子", True),
        ("桌", "我的桌子", True),
        ("มา", "ฉันมา", True),
        ("มา", "ม่า", False),  # a mark makes another letter
        ("T恤", "我 T恤", True),
        ("T恤", "我 ET恤", False),  # of letters that do have spaces, a whole word
        ("コーヒー", "コーヒです", False),
    ],
)
def test_a_forbidden_word_is_a_whole_word_or_without_spaces_one_anywhere(word, text, has):
    letters = ("\0", "\0", "\0", "\0", *sorted(set(text)))
    forbidden = ForbiddenWords.from_words([word], letters)
    open_word, completed = "", False
    for at, letter in enumerate(text):
        piece = letters.index(letter)
        completed |= forbidden.completes(open_word, piece)
        open_word = forbidden.open_word([piece], open_word)
        assert open_word == forbidden.open_word([letters.index(x) for x in text[: at + 1]])
        assert len(open_word.strip()) <= max(len(word), 6)
    assert (completed or forbidden.completes(open_word, EOS)) == has
    assert (forbidden.completed_by(f"{text} x") is not None) == has


@pytest.mark.parametrize("typed", ["桌 子", "桌子。"])
def test_several_words_without_spaces_are_refused(typed):
    with pytest.raises(InputError, match="one word at a time"):
        ForbiddenWords.from_words([typed], TEXTS)


@pytest.mark.parametrize("text", ["a", "7", "·x", "ह", "ि", "्", "่", "\u0301"])
def test_a_mark_is_a_letter_as_all_that_it_stands_on(text):
    assert has_letter(text)


@pytest.mark.parametrize("text", ["", "।", "▁,", "-", "❤\ufe0f", "☠️!", " "])
def test_punctuation_has_no_letter(text):
    assert not has_letter(text)


def test_a_word_is_read_as_the_tokenizer_reads_text():
    assert ForbiddenWords.from_words([" ﬁnden ", "E-Mail"], TEXTS).words == {"finden", "E-Mail"}
