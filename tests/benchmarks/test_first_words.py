"""Content words of what visitors type first; the notice stands by what is wrong."""

import re

import numpy as np
import pytest

from benchmarks import __main__
from benchmarks.first_words import LISTS, Sentence, groups, row_of
from transformer import Translation
from transformer.decoding import Hypothesis
from transformer.translation.result import Candidate

SENTENCE = Sentence("deep river bank", (("tiefe*", "deep"), ("Lernen",), ("*ufer", "am Ufer")))


def translated(text: str, *notices: str) -> Translation:
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
    results = [translated(right), translated(right, "?"), translated("Lernen", "?", "?")]
    results.append(translated("Tiefes Lernen"))
    row = row_of("all", [(SENTENCE, translation) for translation in results])
    assert row == ("all", "9 of 12", "2 of 4", "1 of 2", 1)


@pytest.mark.parametrize("language", LISTS)
def test_each_list_has_sixty_sentences_in_three_groups(language: str) -> None:
    lists = groups(language)
    texts = [sentence.text for part in lists.values() for sentence in part]
    assert len(lists) == 3
    assert len(set(texts)) == len(texts) == 60
    assert all(word for part in lists.values() for sentence in part for word in sentence.words)


@pytest.mark.slow
def test_the_notice_stands_by_what_is_wrong_and_hardly_by_what_is_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = np.zeros(4, dtype=int)  # wrong, noticed among them, right, noticed among them
    for checkpoint in ("bundled", "bundled-de-en"):
        assert __main__.main(["first-words", "--checkpoint", checkpoint]) == 0
        printed = capsys.readouterr().out
        (row,) = re.findall(r"\| all \| .*\| (\d+) of 60 \| (\d+) of (\d+) \| (\d+) \|", printed)
        right, noticed, wrong, noticed_right = map(int, row)
        assert right + wrong == 60
        figures += [wrong, noticed, right, noticed_right]
        assert ("river bank → Flussbank  lacks *ufer" in printed) == (checkpoint == "bundled")
    wrong, noticed, _, noticed_right = figures
    assert wrong < 45
    assert noticed / wrong > 0.55
    assert noticed / (noticed + noticed_right) > 0.75
