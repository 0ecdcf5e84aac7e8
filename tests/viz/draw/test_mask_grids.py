"""What travels for the masks, and what it takes for a row, without a browser."""

from __future__ import annotations

import json

import numpy as np
import pytest

from transformer.trace import Labels
from viz.draw.mask_grids import CODES, MaskGrid, _is_row, mask_data
from viz.draw.palette import COLOR

LABELS = Labels(("▁Hu", "nd", "<pad>"), ("▁dog", "<pad>"))
WHY = np.array([["seen", "both"], ["later", "padding"], ["seen", "padding"]])


def data(why=WHY, labels=LABELS, *, numbers=False):
    grid = MaskGrid("Sentence 1", why, labels)
    return mask_data([grid], "cross", title="Cross attention", numbers=numbers, chosen=(0, 1))


def test_each_square_travels_as_its_reason():
    made = data()
    (grid,) = made["grids"]
    assert [[CODES[int(code)] for code in row] for row in grid["why"]] == WHY.tolist()
    assert (grid["queries"], grid["keys"]) == (["Hu", "·nd", "<pad>"], ["dog", "<pad>"])
    assert grid["faded"] == [False, False, True]
    assert (grid["title"], made["color"], made["chosen"]) == ("Sentence 1", COLOR["cross"], [0, 1])
    assert json.loads(json.dumps(made))["grids"] == [grid]
    said = dict(zip(CODES, made["said"], strict=True))
    assert (said["later"], said["padding"]) == ("it comes later", "it is padding")
    assert said["both"] == "it comes later and is padding"


@pytest.mark.parametrize(
    ("why", "booleans", "numbers"),
    [
        (["seen", "seen"], ["True"], ["0 is added"]),
        (["seen", "later"], ["True", "False: it comes later"], ["0 is added", "−∞ is added"]),
        (
            ["both", "padding"],
            ["True", "False: it is padding", "False: it comes later and is padding"],
            ["0 is added", "−∞ is added"],
        ),
    ],
)
def test_the_legend_names_what_is_there(why, booleans, numbers):
    labels = Labels(("a",), ("b", "c"))
    for as_numbers, expected in ((False, booleans), (True, numbers)):
        legend = data(np.array([why]), labels, numbers=as_numbers)["legend"]
        assert legend[0][0] == 0
        assert all((CODES[code] in why) for code, _ in legend[1:])
        for (_, text), start in zip(legend, expected, strict=True):
            assert text.startswith(start)


def test_a_label_that_is_missing_is_refused():
    with pytest.raises(ValueError, match=r"\(3, 2\) squares for 3 queries, 1 keys"):
        data(labels=Labels(LABELS.queries, LABELS.keys[:1]))
    with pytest.raises(ValueError, match="at least one sentence"):
        mask_data([], "cross", title="", numbers=False, chosen=(0, 0))


@pytest.mark.parametrize("row", [[0, 0], (0, 2)])
def test_a_row_is_a_sentence_and_a_row_of_it(row):
    assert _is_row(row, [MaskGrid("", WHY, LABELS)])


@pytest.mark.parametrize(
    "other", [None, 1, "00", [0], [0, 3], [1, 0], [-1, 0], [0, -1], [0, True], [0, 1.0], [0, 0, 0]]
)
def test_nothing_else_is_a_row(other):
    assert not _is_row(other, [MaskGrid("", WHY, LABELS)])
