"""Pairs are dropped for the reasons asked for; a vocabulary's lines are drawn over all others."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.training import conftest
from training import prepare
from training.data import corpus, text_folders
from training.data.corpus import ParallelText

sides = st.text(st.sampled_from("ab  "), max_size=9)


def judged(pairs: list[tuple[str, str]], asked: prepare.Cleaning, size: int = 10**9) -> list[int]:
    """Return what becomes of each pair, looked at so many at a time."""
    parts = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    texts = [ParallelText([s for s, _ in some], [t for _, t in some]) for some in parts]
    return prepare.scan(texts, asked).tolist()


def judged_one_by_one(pairs: list[tuple[str, str]], asked: prepare.Cleaning) -> list[int]:
    """The same, as a person would."""
    result = []
    seen = set()
    for source, target in pairs:
        few, many = sorted((len(source.split()), len(target.split())))
        if asked.longest_words is not None and many > asked.longest_words:
            result.append(prepare.TOO_LONG)
        elif asked.ratio is not None and few and many / few > asked.ratio:
            result.append(prepare.UNLIKE)
        elif asked.drop_duplicates and (source, target) in seen:
            result.append(prepare.REPEATED)
        else:
            result.append(prepare.KEPT)
            seen.add((source, target))
    return result


@given(
    st.lists(st.tuples(sides, sides), max_size=30),
    st.builds(
        prepare.Cleaning,
        longest_words=st.none() | st.integers(1, 4),
        ratio=st.none() | st.sampled_from([1.0, 1.5, 2.0]),
        drop_duplicates=st.booleans(),
    ),
    st.integers(1, 7),
)
def test_pairs_are_judged_as_one_by_one(
    pairs: list[tuple[str, str]], asked: prepare.Cleaning, size: int
) -> None:
    reasons = judged(pairs, asked, size)
    assert reasons == judged_one_by_one(pairs, asked)
    dropped = asked.count_dropped(np.array(reasons, np.uint8))
    assert dropped == {name: reasons.count(reason) for reason, name in asked.names().items()}


def _folders(folder: Path, *sizes: int) -> list[text_folders.DataFolder]:
    """Folders whose lines are numbers, counted on from one to the next."""
    result, first = [], 0
    for size in sizes:
        path = folder / str(first)
        path.mkdir()
        numbers = range(first, first + size)
        conftest.write_pairs(path / "train", [(f"s{i}", f"t{i} {'x ' * (i % 3)}") for i in numbers])
        result.append(text_folders.DataFolder(path))
        first += size
    return result


def test_a_small_text_is_taken_whole_and_of_a_large_one_pairs_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "CHUNK", 7)
    folders = _folders(tmp_path, 40, 20)
    chunks = chain.from_iterable(folder.files().chunks() for folder in folders)
    result = prepare.scan(chunks, prepare.Cleaning(longest_words=2))
    assert [int(r) for r in result] == [
        prepare.TOO_LONG if i % 3 == 2 else prepare.KEPT for i in range(60)
    ]
    retained = [i for i in range(60) if i % 3 != 2]
    lines = list(prepare.drawn_lines(folders, prepare.drawn_pairs(result, 80)))
    assert lines[:40] == [f"s{i}" for i in retained]
    assert [line.split()[0] for line in lines[40:]] == [f"t{i}" for i in retained]
    drawn = prepare.drawn_pairs(result, 79)
    assert drawn.sum() == 39
    assert set(np.flatnonzero(drawn).tolist()) < set(retained)
    assert drawn.tolist() == prepare.drawn_pairs(result, 79).tolist()
