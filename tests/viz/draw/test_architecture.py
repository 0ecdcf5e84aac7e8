"""The bytes of the drawing: each value under its own name, in its own colour."""

import json
import re
import struct

import numpy as np
import pytest

from viz.draw.architecture import MOST_COLUMNS, MOST_ROWS, DrawnBox, drawing_packet
from viz.draw.bundle import FOLDER, script
from viz.draw.palette import (
    COLOR,
    END,
    difference_levels,
    difference_table,
    largest_colour,
    table,
)
from viz.pages.architecture.boxes import BOXES

RANDOM = np.random.default_rng(5)
VALUES = RANDOM.normal(0, 3, (4, 6)).astype(np.float32)
PATTERN = RANDOM.random((2, 3, 4)).astype(np.float32)
DRAWN = [
    DrawnBox("encoder.tokens", "English", "4 tokens", "what is read: 4 tokens"),
    DrawnBox("encoder.sum", "Sum", "4 × 6", "the sum: 4 × 6", VALUES),
    DrawnBox("decoder.cross_attention", "Cross", "2 × 3 × 4", "cross: 2 × 3 × 4", PATTERN, "cross"),
]


def unpacked(packet: bytes) -> tuple[dict, list[np.ndarray], list[np.ndarray]]:
    """Header, palettes and each box's levels, read the way `unpackDrawing` reads them."""
    (length,) = struct.unpack_from("<I", packet)
    header = json.loads(packet[4 : 4 + length])
    rest = np.frombuffer(packet, np.uint8, offset=4 + length)
    tables = 2 * len(header["palettes"])
    colors = list(rest[: tables * 768].reshape(tables, 256, 3))
    at, levels = tables * 768, []
    for box in header["boxes"]:
        count = int(np.prod(box["levels"]))
        levels.append(rest[at : at + count].reshape(box["levels"]))
        at += count
    assert at == len(rest)
    return header, colors, levels


def test_each_box_has_its_words_and_its_values() -> None:
    packet = drawing_packet(DRAWN, layers=6, layer=2, selected="encoder.sum")
    header, colors, levels = unpacked(packet)
    assert (header["layers"], header["layer"], header["selected"]) == (6, 2, "encoder.sum")
    for box, drawn in zip(header["boxes"], DRAWN, strict=True):
        for name in ("name", "title", "shape", "says", "kind"):
            assert box[name] == getattr(drawn, name)
    assert [box["color"] for box in header["boxes"]] == [None, None, COLOR["cross"]]
    assert levels[0].size == 0
    np.testing.assert_array_equal(levels[1][0], difference_levels(VALUES))
    np.testing.assert_array_equal(levels[2], np.rint(255 * PATTERN).astype(np.uint8))
    assert header["palettes"] == ["difference", *COLOR]
    np.testing.assert_array_equal(colors[0], difference_table("light"))
    np.testing.assert_array_equal(colors[1], difference_table("dark"))
    for n, kind in enumerate(COLOR):
        np.testing.assert_array_equal(colors[2 + 2 * n], table(kind, "light"))
        np.testing.assert_array_equal(colors[3 + 2 * n], table(kind, "dark"))


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
    values = RANDOM.normal(size=(2 * MOST_ROWS + 2, MOST_COLUMNS)).astype(np.float32)
    box = DrawnBox("encoder.sum", "Sum", "", "", values)
    _, _, (levels,) = unpacked(drawing_packet([box], layers=1, layer=0, selected=""))
    blocks = [values[n : n + 3].mean(0) for n in range(0, len(values), 3)]
    np.testing.assert_allclose(
        levels[0].astype(int), difference_levels(np.stack(blocks)).astype(int), atol=1
    )
    assert levels.shape[1] <= MOST_ROWS


def test_a_value_that_is_none_and_two_boxes_of_one_name_are_refused() -> None:
    bad = DrawnBox("encoder.sum", "Sum", "", "", np.array([[np.nan]], dtype=np.float32))
    with pytest.raises(ValueError, match="of encoder"):
        drawing_packet([bad], layers=1, layer=0, selected="")
    with pytest.raises(ValueError, match="two boxes"):
        drawing_packet([DRAWN[1], DRAWN[1]], layers=1, layer=0, selected="")


def test_the_plan_has_a_place_for_every_box_and_for_no_other() -> None:
    source = (FOLDER / "architecture_plan.js").read_text("utf-8")
    stacks = re.search(r"const STACKS = (\{.*?\n\});", source, re.DOTALL)
    assert stacks
    text = re.sub(r"(\w+):", r'"\1":', stacks[1])
    rows = json.loads(re.sub(r",(\s*[}\]])", r"\1", text))
    places = [
        f"{stack}.{name}"
        for stack, names in rows.items()
        for row in names
        for name in ([row] if isinstance(row, str) else row)
    ]
    assert places == [box.name for box in BOXES]


@pytest.mark.parametrize("name", ["architecture.js"])
def test_each_bundle_stands_alone(name: str) -> None:
    text = script(name)
    assert not re.search(r"^import\b", text, re.MULTILINE)
    assert re.findall(r"^export (.*?)\(", text, re.MULTILINE) == [
        "function render",
        "default function streamlit",
    ]
