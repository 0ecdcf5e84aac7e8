"""A tensor, large: does each value's colour lie where its token and its feature are?

One value is planted in a tensor of small ones; it is read from the saved drawing and the pixels.
"""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from tests.browser.spy import plain
from tests.browser.still import PAPER, SVG, Still, number_of, rgb, words_of
from viz.draw.architecture import encode_strip
from viz.draw.palette import difference_table

pytestmark = pytest.mark.browser

ROWS = ["Zwei", "schwarze", "Hunde", "</s>"]
COLUMNS = 16
SPOT = (2, 11)


@pytest.fixture
def still(browser):
    page = browser.new_page(offline=True)
    opened = []

    def open_page(content, **options):
        opened.append(Still(page, content, **options))
        return opened[-1]

    yield open_page
    page.close()
    assert [fault for one in opened for fault in one.faults] == []


def planted(rows=ROWS, columns=COLUMNS):
    """Small values, and one that is far below 0."""
    values = np.full((len(rows), columns), 0.01, dtype=np.float32)
    values[SPOT] = -3
    return encode_strip(values, rows, title="Feed forward of the decoder, layer 2")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_saved_files_hold_the_value_beside_its_token(still, tmp_path, theme):
    drawn = still(planted(), theme=theme)
    path = drawn.save("SVG", tmp_path)
    assert path.name == "headlight-feed-forward-of-the-decoder-layer-2.svg"
    root = ET.parse(path).getroot()
    coldest = tuple(difference_table(theme)[1])
    (square,) = [node for node in root.iter(f"{SVG}rect") if rgb(node.get("fill")) == coldest]
    left, top, wide, high = (number_of(square, name) for name in ("x", "y", "width", "height"))
    words = words_of(root)
    assert [word["text"] for word in words if top < word["y"] < top + high] == [ROWS[SPOT[0]]]
    first = number_of(min(root.iter(f"{SVG}rect"), key=lambda node: number_of(node, "y")), "x")
    values_from = left - SPOT[1] * wide  # where feature 1 begins: right of every word
    assert first < max(word["x"] for word in words[1 : 1 + len(ROWS)]) < values_from
    said = " ".join(word["text"] for word in words)
    for part in ("Feed forward of the decoder, layer 2", "4 tokens × 16 features", "Olive is"):
        assert part in said
    assert rgb(root[0].get("fill")) == rgb(PAPER[theme])
    image = Image.open(drawn.save("PNG", tmp_path)).convert("RGB")
    assert image.size == (2 * number_of(root, "width"), 2 * number_of(root, "height"))
    assert image.getpixel((round(2 * left + wide), round(2 * top + high))) == coldest


def test_a_word_that_is_squeezed_on_the_screen_is_squeezed_in_the_file(still, tmp_path):
    rows = ["Zwei", "sehr" * 40, "Hunde", "</s>"]
    drawn = still(planted(rows), width=360)
    root = ET.parse(drawn.save("SVG", tmp_path)).getroot()
    wide = {plain(n.text or ""): number_of(n, "textLength") for n in root.iter(f"{SVG}text")}
    assert wide["sehr" * 40] <= 0.4 * 360
