import pytest

from transformer.text.words import has_letter, number_words


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


@pytest.mark.parametrize("text", ["a", "7", "·x", "ह", "ि", "्", "่", "\u0301"])
def test_a_mark_is_a_letter_as_all_that_it_stands_on(text):
    assert has_letter(text)


@pytest.mark.parametrize("text", ["", "।", "▁,", "-", "❤\ufe0f", "☠️!", " "])
def test_punctuation_has_no_letter(text):
    assert not has_letter(text)
