"""Content words of what visitors type first; the notice stands by what is wrong."""

import pytest

from benchmarks.first_words import LISTS, Sentence, groups, log_p_row, translated, words_row
from transformer import Translation, Translator
from transformer.config import EOS
from transformer.decoding import Hypothesis
from transformer.translation.result import Candidate

SENTENCE = Sentence("deep river bank", (("tiefe*", "deep"), ("Lernen",), ("*ufer", "am Ufer")))


def made(text: str, *notices: str) -> Translation:
    best = Candidate(text, (), Hypothesis((), (), 0.0))
    return Translation("", (), (best,), notices, seconds=0.0)


@pytest.mark.parametrize(
    ("translation", "missing"),
    [
        ("Tiefes Lernen am Flussufer", 0),
        ("Deep: das Lernen am Ufer", 0),
        ("Tiefen lernen am Fluss", 2),  # a verb, no noun
        ("Untiefe, Verlernen, Ufern", 3),
    ],
)
def test_a_word_is_right_in_any_of_its_forms(translation: str, missing: int) -> None:
    assert len(SENTENCE.missing(translation)) == missing


def test_words_sentences_and_notices_are_counted() -> None:
    right = "Tiefes Lernen am Ufer"
    results = [made(right), made(right, "?"), made("Lernen", "?", "?")]
    results.append(made("Tiefes Lernen"))
    row = words_row("all", [(SENTENCE, translation) for translation in results])
    assert row == ("all", "9 of 12", "2 of 4", "1 of 2", 1)


def test_log_p_is_per_subword_before_the_end() -> None:
    best = Candidate("", (), Hypothesis((4, 5, EOS), (-1.0, -1.5, -0.5), 0.0))
    result = Translation("", (), (best,), ("?",), seconds=0.0)
    assert log_p_row("x", [(SENTENCE, result)]) == ("x", 1, "-1.50", "-1.50", "-1.50", 1)


@pytest.mark.parametrize("language", LISTS)
def test_sixty_sentences_of_each_language_have_expected_words(language: str) -> None:
    lists = groups(language)
    expecting = [part for part in lists.values() if any(sentence.words for sentence in part)]
    texts = [sentence.text for part in expecting for sentence in part if sentence.words]
    assert len(expecting) == 3
    assert len(set(texts)) == len(texts) == sum(map(len, expecting)) == 60
    others = [part for part in lists.values() if part not in expecting]
    assert sorted(map(len, others)) == [6, 6, 10, 10, 15, 20, 20, 30, 30]


@pytest.mark.slow
def test_the_notice_stands_by_what_is_wrong_and_hardly_by_what_is_right(
    bundled: Translator, reverse_bundled: Translator
) -> None:
    wrong = noticed = noticed_right = 0
    for translator in (bundled, reverse_bundled):
        part = [
            s for list_ in groups(translator.source_language).values() for s in list_ if s.words
        ]
        part = part[::2]
        results = zip(part, translated(translator, [s.text for s in part]), strict=True)
        for sentence, translation in results:
            is_wrong = bool(sentence.missing(translation.text))
            wrong += is_wrong
            noticed += is_wrong and bool(translation.notices)
            noticed_right += not is_wrong and bool(translation.notices)
    assert wrong < 24
    assert noticed / wrong > 0.5
    assert noticed / (noticed + noticed_right) > 0.7
