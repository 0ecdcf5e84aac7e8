"""A folder may have a weight; one that cannot be meant is refused in one sentence."""

from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from training.data.folders import DataFolder, data_folder, read_training_texts


def test_a_weight_stands_behind_a_colon(tmp_path: Path) -> None:
    assert data_folder("mix") == DataFolder(Path("mix"), 1)
    assert data_folder("a/mix:0.5") == DataFolder(Path("a/mix"), 0.5)
    assert data_folder("a:b:2") == DataFolder(Path("a:b"), 2)
    odd = tmp_path / "mix:3"
    odd.mkdir()
    assert data_folder(str(odd)) == DataFolder(odd, 1)
    assert data_folder(f"{odd}:4") == DataFolder(odd, 4)


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf", "1e9", "half", ""])
def test_a_weight_that_cannot_be_meant_is_refused(weight: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"weight of 'mix' must be a number above 0"):
        data_folder(f"mix:{weight}")


def test_each_folder_is_read_for_itself(data: Path) -> None:
    texts = read_training_texts([DataFolder(data), DataFolder(data, 0.5)])
    assert [len(text) for text in texts] == [300, 300]
