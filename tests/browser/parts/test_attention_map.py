"""The large map, alone: the same weight under the same words, read, painted and saved."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from tests.browser.app_page import expect
from tests.browser.offline import PAPER, SVG, number_of, rgb, words_of
from tests.browser.spy import level_of, map_on
from transformer.text.languages import OURS
from transformer.trace import Labels
from viz.draw.attention_map import Look, MapAxes, encode_map
from viz.draw.labels import display_tokens
from viz.draw.palette import table

pytestmark = pytest.mark.browser

ENGLISH = ("▁Two", "▁black", "▁dogs", "▁run", "▁fris", "bee", "</s>")
GERMAN = ("▁Zwei", "▁schwarze", "▁Hun", "de", "</s>")
LABELS = Labels(GERMAN, ENGLISH)
HOT, SOME, FAINT = 0.64, 0.25, 0.04
SPOT = (2, 5)
# whether the picture fades at its right side and at its foot
FADES = """(wanted) => ["::after", "::before"].every((side, n) => wanted[n] ===
    (getComputedStyle(document.querySelector(".hl-frame"), side).content === '""'))"""


def planted(labels=LABELS, spot=SPOT):
    """A strong, a middling and a faint weight in one row, nothing else but a first column."""
    weights = np.zeros((len(labels.queries), len(labels.keys)), dtype=np.float32)
    weights[:, 0] = 1
    query, key = spot
    weights[query] = 0
    weights[query, [key, key - 1, 0]] = HOT, SOME, FAINT
    return weights


def content(weights, labels=LABELS, title="L3 H5 · cross", **options):
    reads = options.pop("reads", None)
    look = Look(**{name: options.pop(name) for name in vars(Look()) if name in options})
    axes = MapAxes("cross", labels, OURS, reads=reads)
    return encode_map(weights, axes, title=title, look=look, **options)


def numbered(count):
    """A long sentence in which no two words are alike."""
    return Labels(*(tuple(f"▁{side}{n}" for n in range(count)) for side in "wk"))


def test_pointer_and_keys_read_a_weight_and_keep_a_row(still):
    weights = planted()
    page = still(content(weights, reads=("<s>", *GERMAN[:-1])))
    drawn = map_on(page.canvas)
    assert (drawn["levels"] == level_of(weights)).all()
    assert drawn["table"] == ("cross", "light")
    assert [drawn["queries"], drawn["keys"]] == [display_tokens(axis) for axis in LABELS]
    assert page.color(*page.square(*SPOT)) == tuple(table("cross", "light")[round(255 * HOT)])
    page.move(*page.square(*SPOT))
    assert page.readout() == "“Hun” → “·bee”0.640\nThis step reads “schwarze” and predicts “Hun”."
    # last word read at its left, and beside the bars, too; what it writes at its right
    assert page.bold() == ["schwarze", "Hun", "·bee", "schwarze"]
    page.click(*page.square(*SPOT))
    expect(page.tip).to_be_hidden()
    assert page.bold() == ["schwarze", "Hun", "schwarze"]
    number = page.spot("0.64")
    assert abs(number[0] - page.square(*SPOT)[0]) < 1  # over its key
    # the keys
    page.press("Escape", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft")
    assert page.bold() == ["Zwei", "schwarze", "black", "Zwei"]
    row = "This step reads “Zwei” and predicts “schwarze”."
    assert page.read_out() == f"“schwarze” → “black” 0 {row}"
    page.press("Enter")
    assert page.read_out() == "row “schwarze” kept"
    # it outlives other weights of the same words, and no other words
    page.show(content(planted(spot=(1, 3)), title="L1 H2"))
    page.scroll.blur()
    assert page.page.locator("h3").inner_text() == "L1 H2"
    assert page.bold() == ["schwarze"] * 2
    page.show(content(weights, Labels((*GERMAN[:-1], "▁Schnee"), ENGLISH)))
    assert page.bold() == []
    # for those who do not see
    rows = page.page.locator(".hl-unseen table tr")
    assert rows.first.locator("th").all_inner_texts()[1] == "English: where it looks"
    assert rows.nth(3).locator("td").all_inner_texts() == ["Hun", "·bee", "0.640"]


def test_a_long_sentence_scrolls_and_any_token_is_text(still):
    markup = ["<img src=x onerror=window.taken=1>", "<b>fett</b>", "שלום", "👩‍🚀🇩🇪", "&amp;"]
    markup.append("w" * 200)
    queries, keys = numbered(60)
    labels = Labels((*(f"▁{token}" for token in markup), *queries), keys)
    page = still(content(np.eye(66, 60, dtype=np.float32), labels), width=390)
    assert set(markup[:5]) <= set(page.texts())
    page.page.wait_for_function(FADES, arg=[True, True])
    page.press("ArrowRight", "ArrowDown")
    assert page.readout().startswith(f"“{markup[1]}” → “k0”")
    page.press("End")
    frame = page.scroll.bounding_box()
    assert 0 < page.square(1, 59)[0] < frame["width"]  # the cursor is never out of sight
    page.scroll.evaluate("(node) => { node.scrollLeft = 1e6; }")
    page.page.wait_for_function(FADES, arg=[False, True])  # there is more below
    page.scroll.evaluate("(node) => { node.scrollTop = 1e6; }")
    page.page.wait_for_function(FADES, arg=[False, False])
    assert 0 < page.square(65, 59)[1] < frame["height"]
    x, y = page.square(65, 59)
    assert abs(page.spot("w59")[1] - y) < 5
    assert abs(page.spot("k59")[0] - x) < 5
    assert page.fits()
    assert page.page.evaluate("() => window.taken") is None
    assert page.page.locator(".hl img, .hl b, .hl script").count() == 0


def test_a_stroke_is_of_the_map_on_which_it_was_pressed(still):
    page = still(content(planted(), title="L1 H1", paints=True))
    touch = """(node, [x, y]) => {
        const { left, top } = node.getBoundingClientRect();
        const event = new Event("touchstart", { cancelable: true });
        event.touches = [{ clientX: left + x, clientY: top + y }];
        return node.dispatchEvent(event);
    }"""
    x, y = page.square(1, 2)
    assert not page.scroll.evaluate(touch, [x, y])  # a finger paints
    assert page.scroll.evaluate(touch, [5, y])  # it scrolls beside the squares
    page.move(*page.square(1, 2))
    page.page.mouse.down()
    page.move(*page.square(1, 3))
    page.show(content(planted(), title="L1 H2", paints=True))  # another head, of the same words
    page.page.mouse.up()
    (message,) = page.picked()
    assert (message["title"], message["squares"]) == ("L1 H1", [[1, 2], [1, 3]])


def test_saved_files_hold_the_square_under_its_words(still, tmp_path):
    page = still(content(planted(), threshold=0.05), theme="dark", width=300)
    path = page.save("SVG", tmp_path)
    assert path.name == "headlight-l3-h5-cross.svg"
    root = ET.parse(path).getroot()
    hot = tuple(table("cross", "dark")[round(255 * HOT)])
    (square,) = [
        node
        for node in root.iter(f"{SVG}rect")
        if rgb(node.get("fill", "")) == hot and number_of(node, "height") > 10
    ]
    left, top, side = (number_of(square, name) for name in ("x", "y", "width"))
    words = words_of(root)
    assert [word["text"] for word in words if top < word["y"] < top + side] == ["Hun"]
    text = " ".join(word["text"] for word in words)
    assert all(part in text for part in ("L3 H5 · cross", "Columns → ", "sum to 1.", "below 0.05"))
    image = Image.open(page.save("PNG", tmp_path)).convert("RGB")
    assert image.size == (2 * number_of(root, "width"), 2 * number_of(root, "height"))
    assert image.getpixel((round(2 * left + side), round(2 * top + side))) == hot
    assert image.getpixel((2, 2)) == rgb(root[0].get("fill")) == rgb(PAPER["dark"])


def test_a_contrast_theme_keeps_the_colours_on_its_own_paper(still):
    weights = planted()
    still(content(weights)).page.emulate_media(forced_colors="active", color_scheme="light")
    page = still(content(weights))
    drawn = map_on(page.canvas)
    page.page.emulate_media(forced_colors="none")
    assert drawn["table"] == ("cross", "light")
    assert (drawn["levels"] == level_of(weights)).all()
