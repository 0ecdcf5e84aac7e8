"""The vocabulary is learnt on lines that are drawn over the whole text, alike each time."""

from pathlib import Path

import numpy as np
import pytest

from tests.training.conftest import write_pairs
from training.data import corpus
from training.data.cleaning import KEPT, TOO_LONG, Cleaning
from training.data.corpus import CorpusError
from training.data.folders import DataFolder
from training.data.scan import Scan, drawn_lines, drawn_pairs, scan


def _folders(folder: Path, *sizes: int) -> list[DataFolder]:
    """Folders whose lines are numbers, counted on from one to the next."""
    found, first = [], 0
    for size in sizes:
        path = folder / str(first)
        path.mkdir()
        numbers = range(first, first + size)
        write_pairs(path / "train", [(f"s{i}", f"t{i} {'x ' * (i % 3)}") for i in numbers])
        found.append(DataFolder(path))
        first += size
    return found


def test_a_small_text_is_taken_whole_and_of_a_large_one_pairs_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "CHUNK", 7)
    folders = _folders(tmp_path, 40, 20)
    found = scan(folders, Cleaning(longest_words=2))
    assert found.pairs == (40, 20)
    assert [int(r) for r in found.reasons] == [TOO_LONG if i % 3 == 2 else KEPT for i in range(60)]
    kept = [i for i in range(60) if i % 3 != 2]
    lines = list(drawn_lines(folders, drawn_pairs(found, 80)))
    assert lines[:40] == [f"s{i}" for i in kept]
    assert [line.split()[0] for line in lines[40:]] == [f"t{i}" for i in kept]
    drawn = drawn_pairs(found, 79)
    assert drawn.sum() == 39
    assert set(np.flatnonzero(drawn).tolist()) < set(kept)
    assert drawn.tolist() == drawn_pairs(found, 79).tolist()


def test_what_is_drawn_is_spread_over_the_whole_text() -> None:
    large = Scan((100_000,), np.zeros(100_000, np.uint8))
    tenths = drawn_pairs(large, 20_000).reshape(10, -1).sum(1)
    assert tenths.sum() == 10_000
    assert np.abs(tenths - 1000).max() < 4.5 * np.sqrt(1000 * 0.9)


def test_a_folder_without_pairs_and_one_of_other_counts_are_refused(tmp_path: Path) -> None:
    (folder,) = _folders(tmp_path, 5)
    (folder.path / "train.de").write_text("1\n2\n3\n")
    with pytest.raises(CorpusError, match=r"train\.en has 5 lines and .*train\.de has 3"):
        scan([folder], Cleaning())
    for name in ("train.en", "train.de"):
        (folder.path / name).write_text("")
    with pytest.raises(CorpusError, match=r"train\.en is empty"):
        scan([folder], Cleaning())
    (folder.path / "train.de").unlink()
    with pytest.raises(CorpusError, match=r"train\.de cannot be read: No such file"):
        scan([folder], Cleaning())
