"""Messages for the masks, and what it takes for a row, without a browser."""

import re

import numpy as np

from tests.viz.draw.message import decode
from transformer.trace import Labels
from viz.draw.mask_grids import CODES, MaskGrid, describe_row, encode_masks, row_of
from viz.draw.palette import COLOR

LABELS = Labels(("▁Hu", "nd", "<pad>"), ("▁dog", "<pad>"))
WHY = np.array([["seen", "both"], ["later", "padding"], ["seen", "padding"]])


def message(why=WHY, labels=LABELS, *, as_numbers=False):
    grid = MaskGrid("Sentence 1", why, labels)
    content = encode_masks(
        [grid], "cross", title="Cross attention", as_numbers=as_numbers, chosen=(0, 1)
    )
    return decode(content)[0]


def test_each_square_travels_as_its_reason_in_one_byte():
    meta = message()
    (grid,) = meta["grids"]
    codes = grid["codes"]
    assert codes.dtype == np.uint8
    assert [[CODES[code] for code in row] for row in codes] == WHY.tolist()
    assert (grid["queries"], grid["keys"]) == (["Hu", "·nd", "<pad>"], ["dog", "<pad>"])
    assert grid["faded"] == [False, False, True]
    assert (grid["title"], meta["color"], meta["chosen"]) == ("Sentence 1", COLOR["cross"], [0, 1])
    reasons = dict(zip(CODES, meta["reasons"], strict=True))
    assert (reasons["later"], reasons["padding"]) == ("it comes later", "it is padding")
    assert reasons["both"] == "it comes later and is padding"
    grids = [MaskGrid("", why, LABELS) for why in (WHY, WHY[:, ::-1])]
    both, _ = decode(encode_masks(grids, "cross", title="", as_numbers=True, chosen=(1, 0)))
    assert (both["grids"][1]["codes"] == codes[:, ::-1]).all()  # each sentence has its own squares


def test_only_a_sentence_and_a_row_of_it_are_a_row():
    grids = [MaskGrid("", WHY, LABELS)]
    assert [row_of(row, grids) for row in ([0, 0], (0, 2))] == [(0, 0), (0, 2)]
    for other in (None, 1, "00", [0], [0, 3], [1, 0], [-1, 0], [0, True], [0, 0, 0]):
        assert row_of(other, grids) is None


def in_words(query, keys, whys):
    """Without the marks that keep a token's direction to itself."""
    return [re.sub("[\u2068\u2069]", "", text) for text in describe_row(query, keys, whys)]


def test_several_share_a_sentence_and_padding_is_counted():
    keys = ["a", "b", "c", "d", "<pad>", "<pad>", "<pad>"]
    whys = ["seen", "later", "later", "later", "both", "both", "padding"]
    assert in_words("the row of “a”", keys, whys) == [
        "The row of “a” may see “a”.",
        "The row of “a” may not see “b”, “c” and “d”: they come later.",
        "The row of “a” may not see 2 × “<pad>”: they come later and are padding.",
        "The row of “a” may not see “<pad>”: it is padding.",
    ]
