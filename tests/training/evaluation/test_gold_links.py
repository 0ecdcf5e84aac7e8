"""Gold links are read as they are written, and AER is the formula's, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.data.corpus import CorpusError, ParallelText
from training.evaluation.gold_links import Counts, GoldLinks, Notation, read_gold

FROM_ZERO = Notation()
TEXT = ParallelText(["a b c", "d e"], ["x y", "z, w v"])


def _read(tmp_path: Path, content: str, notation: Notation = FROM_ZERO):
    path = tmp_path / "gold"
    path.write_text(content)
    return read_gold(path, TEXT, notation)


def test_sure_links_are_possible_too(tmp_path: Path) -> None:
    gold, dropped = _read(tmp_path, "0-0 2p1 1p1 1-1\n1p2\n")
    assert gold == [
        GoldLinks(frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1), (2, 1)})),
        GoldLinks(frozenset(), frozenset({(1, 2)})),
    ]
    assert dropped == 0


def test_turned_and_counted_from_one(tmp_path: Path) -> None:
    gold, _ = _read(tmp_path, "2-3\n3p1\n", Notation(turned=True, first=1))
    assert gold[0].sure == {(2, 1)}
    assert (gold[1].sure, gold[1].possible) == (frozenset(), {(0, 2)})


def test_links_outside_are_dropped_where_that_is_asked(tmp_path: Path) -> None:
    gold, dropped = _read(tmp_path, "0-0 3-0 0p2\n0-0\n", Notation(drop_outside=True))
    assert gold[0].possible == {(0, 0)}
    assert dropped == 2


def test_aer_by_hand() -> None:
    counts = Counts()
    counts.add(
        {(0, 0), (1, 1), (2, 1)}, GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))
    )
    # |A| 3, |S| 1, |A∩S| 1, |A∩P| 2
    assert counts.figures() == pytest.approx(
        {"aer": 100 * (1 - 3 / 4), "precision": 200 / 3, "recall": 100}
    )
    counts.add({(0, 0)}, GoldLinks(frozenset({(1, 1), (2, 2)}), frozenset({(1, 1), (2, 2)})))
    # together: |A| 4, |S| 3, |A∩S| 1, |A∩P| 2
    assert counts.figures() == pytest.approx(
        {"aer": 100 * (1 - 3 / 7), "precision": 50, "recall": 100 / 3}
    )


def test_nothing_found_in_nothing_is_no_success() -> None:
    assert Counts().figures() == {"aer": 100, "precision": 0, "recall": 0}


@pytest.mark.parametrize(
    ("content", "notation", "sentence"),
    [
        ("0-0\n", FROM_ZERO, "has 1 lines, but there are 2 sentence pairs"),
        ("", FROM_ZERO, "has 0 lines"),
        ("0-0\n \n", FROM_ZERO, "line 2 is empty: remove it from all three files"),
        ("0-0\n0-0 1:1\n", FROM_ZERO, "line 2: “1:1” is no link: write source-target"),
        ("0-0\n0-0-1\n", FROM_ZERO, "line 2: “0-0-1” is no link"),
        ("0-0\n-1-0\n", FROM_ZERO, "line 2: “-1-0” is no link"),
        ("0-0\n٣-0\n", FROM_ZERO, "line 2: “٣-0” is no link"),
        ("0-0\n0-9999999999\n", FROM_ZERO, "is no link"),
        ("3-0\n0-0\n", FROM_ZERO, "line 1: the link 3-0 names word 3 of the source, .* 0 to 2"),
        ("0-0\n0p3\n", FROM_ZERO, "line 2: the link 0p3 names word 3 of the target, .* 0 to 2"),
        ("0-1\n1-1\n", Notation(first=1), "1: the link 0-1 names word 0 of the source, .* 1 to 3"),
        ("0-2\n0-2\n", Notation(turned=True), "line 2: the link 0-2 names word 2 of the source"),
    ],
)  # fmt: skip
def test_bad_gold_is_one_sentence_that_names_the_line(
    tmp_path: Path, content: str, notation: Notation, sentence: str
) -> None:
    with pytest.raises(CorpusError, match=sentence):
        _read(tmp_path, content, notation)
