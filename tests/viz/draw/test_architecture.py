"""The bytes of the drawing: each value under its own name, in its own colour."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.viz.draw.message import decode
from transformer import TransformerConfig
from transformer.text.languages import OURS
from viz.draw.architecture import (
    MAX_COLUMNS,
    MAX_ROWS,
    DrawnBox,
    encode_architecture,
    encode_strip,
)
from viz.draw.palette import (
    COLOR,
    END,
    difference_levels,
    largest_colour,
)
from viz.pages.architecture.boxes import model_boxes

PLACES = Path(__file__).parents[2] / "js" / "boxes.json"
RANDOM = np.random.default_rng(5)
VALUES = RANDOM.normal(0, 3, (4, 6)).astype(np.float32)
PATTERN = RANDOM.random((2, 3, 4)).astype(np.float32)
DRAWN = [
    DrawnBox("encoder.tokens", "English", "4 tokens", "what is read: 4 tokens"),
    DrawnBox("encoder.sum", "Sum", "4 × 6", "the sum: 4 × 6", VALUES),
    DrawnBox("decoder.cross_attention", "Cross", "2 × 3 × 4", "cross: 2 × 3 × 4", PATTERN, "cross"),
]


def test_each_box_has_its_words_and_its_values() -> None:
    meta, _ = decode(
        encode_architecture(
            DRAWN, layers={"encoder": 6}, layer={"encoder": 2}, selected="encoder.sum"
        )
    )
    assert (meta["layers"], meta["layer"], meta["selected"]) == (
        {"encoder": 6},
        {"encoder": 2},
        "encoder.sum",
    )
    for box, drawn in zip(meta["boxes"], DRAWN, strict=True):
        for name in ("name", "title", "shape", "label", "kind"):
            assert box[name] == getattr(drawn, name)
    assert [box["color"] for box in meta["boxes"]] == [None, None, COLOR["cross"]]
    assert meta["memoryColor"] == COLOR["cross"]
    tokens, added, cross = (box["values"] for box in meta["boxes"])
    assert tokens.size == 0
    np.testing.assert_array_equal(added, difference_levels(VALUES)[None])
    np.testing.assert_array_equal(cross, np.rint(255 * PATTERN).astype(np.uint8))
    sizes = [[box[name] for name in ("maps", "rows", "columns")] for box in meta["boxes"]]
    assert sizes == [[0, 0, 0], [1, 4, 6], [2, 3, 4]]


def test_colours_run_around_0_to_the_end_and_stay_there() -> None:
    values = np.array([[-100.0, -1.0, 0.0, 0.5, 1.0] + 500 * [1.0]], dtype=np.float32)
    assert largest_colour(values) == np.quantile(np.abs(values), END) == 1
    assert difference_levels(values)[0, :5].tolist() == [1, 1, 128, 192, 255]
    # a tensor of nothing but 0 is grey; one rare spike still has a colour
    assert set(difference_levels(np.zeros((2, 3), np.float32)).ravel()) == {128}
    spike = np.zeros((1, 1000), dtype=np.float32)
    spike[0, 7] = 0.5
    assert difference_levels(spike)[0, 7] == 255


def test_what_has_more_values_than_a_strip_has_pixels_is_drawn_as_means_of_blocks() -> None:
    values = RANDOM.normal(size=(2 * MAX_ROWS + 2, MAX_COLUMNS)).astype(np.float32)
    box = DrawnBox("encoder.sum", "Sum", "", "", values)
    message, _ = decode(
        encode_architecture([box], layers={"encoder": 1}, layer={"encoder": 0}, selected="")
    )
    levels = message["boxes"][0]["values"]
    blocks = [values[n : n + 3].mean(0) for n in range(0, len(values), 3)]
    np.testing.assert_allclose(
        levels[0].astype(int), difference_levels(np.stack(blocks)).astype(int), atol=1
    )
    assert levels.shape[1] <= MAX_ROWS


def test_a_value_that_is_none_is_refused() -> None:
    bad = DrawnBox("encoder.sum", "Sum", "", "", np.array([[np.nan]], dtype=np.float32))
    with pytest.raises(ValueError, match="of encoder"):
        encode_architecture([bad], layers={"encoder": 1}, layer={"encoder": 0}, selected="")
    with pytest.raises(ValueError, match="not numbers"):
        encode_strip(VALUES * np.nan, list("abcd"), title="")


def test_the_drawing_has_the_boxes_for_which_its_plan_has_places() -> None:
    # tests/js/architecture.test.ts compares the plan with the same list
    boxes = model_boxes(TransformerConfig.base(), OURS)
    assert json.loads(PLACES.read_text("utf-8")) == [box.name for box in boxes]


def test_a_tensor_travels_exactly() -> None:
    content = encode_strip(VALUES, ["▁The", "▁d", "og", "</s>"], title="Sum")
    meta, arrays = decode(content)
    assert (meta["component"], meta["title"]) == ("tensor_strip", "Sum")
    assert (meta["rows"], meta["columnNames"]) == (["The", "d", "·og", "end"], None)
    assert meta["end"] == pytest.approx(np.quantile(np.abs(VALUES), END))
    np.testing.assert_array_equal(arrays["values"], VALUES)
    columns = ["▁Der", "▁Hund", "e", "</s>", "▁a", "."]
    meta, _ = decode(encode_strip(VALUES, list("abcd"), title="Linear", columns=columns))
    assert meta["columnNames"] == ["Der", "Hund", "·e", "end", "a", "."]


def test_masked_scores_of_a_strip_stay_what_they_are() -> None:
    values = np.array([[1, -np.inf], [-3, 0.5]], dtype=np.float32)
    plain, arrays = decode(encode_strip(values, list("ab"), title=""))
    assert np.array_equal(arrays["values"].reshape(2, 2), values)
    assert 0.5 <= plain["end"] <= 3
    with pytest.raises(ValueError, match="not numbers"):
        encode_strip(-values, list("ab"), title="")
