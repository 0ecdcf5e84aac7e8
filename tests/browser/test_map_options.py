"""The large map's scales, thresholds, differences and files: the same square under the same words.

No server: these pages are the module and its bytes alone.
"""

import statistics
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from tests.browser.spy import map_on
from tests.browser.still import PAPER, SVG, Still, number_of, rgb, words_of
from transformer.text.languages import OURS
from transformer.trace import Labels
from viz.draw.attention_map import Scale, encode_map
from viz.draw.labels import display_tokens
from viz.draw.palette import difference_table, table

pytestmark = pytest.mark.browser

ENGLISH = ("▁Two", "▁black", "▁dogs", "▁run", "▁fris", "bee", "</s>")
GERMAN = ("▁Zwei", "▁schwarze", "▁Hun", "de", "</s>")
LABELS = {
    "encoder_self": Labels(ENGLISH, ENGLISH),
    "decoder_self": Labels(GERMAN, GERMAN),
    "cross": Labels(GERMAN, ENGLISH),
}
HOT, SOME, FAINT = 0.64, 0.25, 0.04
SPOTS = {"encoder_self": (4, 2), "decoder_self": (3, 1), "cross": (2, 5)}


def planted(labels, spot):
    """A strong, a middling and a faint weight in one row, nothing else but a first column."""
    weights = np.zeros((len(labels.queries), len(labels.keys)), dtype=np.float32)
    weights[:, 0] = 1
    query, key = spot
    weights[query] = 0
    weights[query, [key, key - 1, 0 if key > 1 else 2]] = HOT, SOME, FAINT
    return weights


def numbered(count):
    """A long sentence in which no two words are alike."""
    words = tuple(f"▁w{n}" for n in range(count))
    return Labels(words, tuple(f"▁k{n}" for n in range(count)))


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page(offline=True)
    yield page
    page.close()


@pytest.fixture
def still(page):
    opened = []

    def open_page(content, **options):
        opened.append(Still(page, content, **options))
        return opened[-1]

    yield open_page
    assert [fault for one in opened for fault in one.faults] == []


def middle(page, query, key):
    """Of a square, on the canvas."""
    origin = map_on(page.scroll.locator("canvas"))["origin"]
    side = origin["square"]
    return origin["x"] + (key + 0.5) * side, origin["y"] + (query + 0.5) * side


def words_at(page, query, key):
    """The words that stand beside a square's row and over its column."""
    x, y = middle(page, query, key)
    top, left = page.of_view("plan.top"), page.of_view("plan.left")
    words = page.words()
    rows = [word for word in words if word["x"] < left and word["y"] > top]
    columns = [word for word in words if word["x"] > left and word["y"] < top]
    return (
        min(rows, key=lambda word: abs(word["y"] - y))["text"],
        min(columns, key=lambda word: abs(word["x"] - x))["text"],
    )


SCALES: dict[Scale, tuple[Callable[[np.float64], np.float64], str]] = {
    "linear": (lambda weight: weight, "weight 0 1"),
    "square root": (np.sqrt, "weight 0 1 √ scale"),
    "by row": (lambda weight: weight / HOT, "weight 0 max each row by its largest"),
}


@pytest.mark.parametrize("kind", list(LABELS))
def test_a_scale_changes_colors_and_no_number(still, kind):
    labels, (query, key) = LABELS[kind], SPOTS[kind]
    weights = planted(labels, (query, key))
    page = still(encode_map(weights, labels, kind, title="L1 H1", languages=OURS))
    for scale, (curve, says) in SCALES.items():
        page.page.mouse.move(1, 1)
        page.show(encode_map(weights, labels, kind, title="L1 H1", scale=scale, languages=OURS))
        for column in (key, key - 1):
            level = round(float(255 * curve(np.float64(weights[query, column]))))
            color = page.color(*middle(page, query, column))
            assert color == tuple(table(kind, "light")[level])
        assert words_at(page, query, key) == (
            display_tokens(labels.queries)[query],
            display_tokens(labels.keys)[key],
        )
        page.move(*middle(page, query, key))
        assert page.tip.inner_text().endswith("0.640")
        assert "0.64" in [word["text"] for word in page.words()]  # over its bar
        assert " ".join(page.page.locator(".hl-legend").inner_text().split()) == says


def test_below_the_threshold_is_paper_and_hover_still_tells(still):
    labels, (query, key) = LABELS["cross"], SPOTS["cross"]
    weights = planted(labels, (query, key))
    page = still(encode_map(weights, labels, "cross", title="", threshold=0.05, languages=OURS))
    drawn = {at for at in np.ndindex(weights.shape) if page.color(*middle(page, *at)) != paper()}
    assert drawn == {at for at in np.ndindex(weights.shape) if weights[at] >= 0.05}
    page.move(*middle(page, query, 0))
    assert page.tip.inner_text().endswith("0.0400")
    assert page.page.locator(".hl-legend").inner_text().endswith("below 0.05 not drawn")


def paper():
    return rgb(PAPER["light"])


@pytest.mark.parametrize("kind", list(LABELS))
def test_a_difference_has_two_sides_around_a_neutral_nothing(still, kind):
    labels, (query, key) = LABELS[kind], SPOTS[kind]
    weights = np.zeros((len(labels.queries), len(labels.keys)), dtype=np.float32)
    weights[query, key], weights[query, key - 1] = -HOT, HOT
    page = still(encode_map(weights, labels, kind, title="", signed=True, languages=OURS))
    colors = difference_table("light")
    for column, value in ((key, -HOT), (key - 1, HOT)):
        expected = tuple(colors[128 + round(127 * value)])
        assert page.color(*middle(page, query, column)) == expected
    neutral = page.color(*middle(page, len(labels.queries) - 1, 0))
    assert neutral == tuple(colors[128])
    assert len(set(neutral)) == 1  # grey
    assert words_at(page, query, key) == (
        display_tokens(labels.queries)[query],
        display_tokens(labels.keys)[key],
    )

    page.move(*middle(page, query, key))
    assert page.tip.inner_text().endswith("−0.640")
    bars = {word["text"]: word for word in page.words() if "0.64" in word["text"]}
    assert set(bars) == {"−0.64", "0.64"}
    assert bars["−0.64"]["y"] > bars["0.64"]["y"] + 20  # less hangs down, more stands up
    assert abs(bars["−0.64"]["x"] - middle(page, query, key)[0]) < 1
    floor = (bars["−0.64"]["y"] - 8 + bars["0.64"]["y"]) / 2  # a number's own height is 8
    for column, way in ((key, 1), (key - 1, -1)):
        x = middle(page, query, column)[0]
        assert page.color(x, floor + 6 * way) != paper()
        assert page.color(x, floor - 6 * way) == paper()
    legend = page.page.locator(".hl-legend").inner_text().split()
    assert legend == ["difference", "−1", "0", "+1"]
    assert "first minus second; rows sum to 0" in page.page.locator(".hl-foot").inner_text()
    row = page.page.locator(".hl-unseen table tbody tr").nth(query).locator("td")
    assert row.all_text_contents()[2] in {"−0.640", "+0.640"}


def test_512_words_are_drawn_quickly_and_the_last_is_reached(still):
    labels = numbered(512)
    weights = np.eye(512, dtype=np.float32)
    page = still(encode_map(weights, labels, "encoder_self", title="long", languages=OURS))
    page.press("ArrowRight", "End")
    page.scroll.evaluate("(node) => { node.scrollTop = 1e6; }")
    assert words_at(page, 511, 511) == ("w511", "k511")
    assert page.color(*middle(page, 511, 511)) == tuple(table("encoder_self", "light")[255])
    assert page.color(*middle(page, 511, 510)) == tuple(table("encoder_self", "light")[0])
    times = page.page.evaluate("""() => [...Array(15)].map(() => {
        const start = performance.now();
        document.querySelector(".hl-scroll").dispatchEvent(new Event("scroll"));
        return performance.now() - start;
    })""")
    assert statistics.median(times) < 16  # a frame of a screen


def test_a_pin_outlives_new_weights_and_not_new_words(still):
    labels, spot = LABELS["cross"], SPOTS["cross"]
    page = still(encode_map(planted(labels, spot), labels, "cross", title="L1 H1", languages=OURS))
    page.press("ArrowRight", "ArrowDown", "Enter")
    page.show(
        encode_map(
            planted(labels, (1, 3)), labels, "cross", title="L1 H2", scale="by row", languages=OURS
        )
    )
    assert page.of_view("pinned") == 1
    assert page.page.locator("h3").inner_text() == "L1 H2"
    assert page.page.locator(".hl").count() == 1
    assert page.color(*middle(page, 1, 3)) == tuple(table("cross", "light")[255])
    other = Labels((*GERMAN[:-1], "▁Schnee"), ENGLISH)
    page.show(encode_map(planted(other, spot), other, "cross", title="L1 H2", languages=OURS))
    assert page.of_view("pinned") is None


def painted_map(labels, title):
    weights = planted(labels, SPOTS["cross"])
    return encode_map(weights, labels, "cross", title=title, paints=True, languages=OURS)


def test_a_stroke_is_of_the_map_on_which_it_was_pressed(still):
    page = still(painted_map(LABELS["cross"], "L1 H1"))
    page.page.evaluate("() => { view.options.onSelect = (told) => { window.told = told; }; }")
    page.move(*middle(page, 1, 2))
    page.page.mouse.down()
    page.move(*middle(page, 1, 3))
    page.show(painted_map(LABELS["cross"], "L1 H2"))  # another head, of the same words
    page.page.evaluate("() => { view.options.onSelect = (told) => { window.told = told; }; }")
    page.page.mouse.up()
    told = page.page.evaluate("told")
    assert (told["title"], told["squares"]) == ("L1 H1", [[1, 2], [1, 3]])


def test_a_finger_paints_where_it_needs_not_scroll(still):
    for labels, action in ((LABELS["cross"], "pan-y"), (numbered(60), "auto")):
        weights = np.eye(len(labels.queries), len(labels.keys), dtype=np.float32)
        page = still(
            encode_map(weights, labels, "cross", title="", paints=True, languages=OURS), width=390
        )
        assert page.scroll.evaluate("(node) => getComputedStyle(node).touchAction") == action


def test_a_word_that_is_very_long_leaves_the_squares_in_sight(still):
    odd = Labels(LABELS["cross"].queries, ("▁" + "w" * 200, *ENGLISH[1:]))
    page = still(encode_map(planted(odd, SPOTS["cross"]), odd, "cross", title="", languages=OURS))
    query, key = SPOTS["cross"]
    x, y = middle(page, query, key)
    assert y < page.scroll.bounding_box()["height"]
    assert page.color(x, y) == tuple(table("cross", "light")[round(255 * HOT)])
    ink = page.page.evaluate("""() => { // of the word's last letters: it is squeezed, not cut
        const canvas = document.querySelector(".hl-scroll canvas");
        const { width } = canvas;
        const { data } = canvas.getContext("2d").getImageData(0, 0, width, 60);
        return data.some((value, n) => n % 4 === 3 && value > 0);
    }""")
    assert ink


@pytest.mark.parametrize(
    ("kind", "theme"),
    [("encoder_self", "light"), ("decoder_self", "light"), ("cross", "light"), ("cross", "dark")],
)
def test_saved_files_hold_the_square_under_its_words(still, tmp_path, kind, theme):
    labels, (query, key) = LABELS[kind], SPOTS[kind]
    packet = encode_map(
        planted(labels, (query, key)),
        labels,
        kind,
        title="L3 H5 · cross",
        threshold=0.05,
        languages=OURS,
    )
    page = still(packet, theme=theme)
    path = page.save("SVG", tmp_path)
    assert path.name == "headlight-l3-h5-cross.svg"
    root = ET.parse(path).getroot()
    hot = tuple(table(kind, theme)[round(255 * HOT)])
    (square,) = [
        node
        for node in root.iter(f"{SVG}rect")
        if rgb(node.get("fill", "")) == hot and number_of(node, "height") > 10
    ]
    left, top, side = (number_of(square, name) for name in ("x", "y", "width"))
    words = words_of(root)
    beside = [word["text"] for word in words if top < word["y"] < top + side]
    assert beside == [display_tokens(labels.queries)[query]]
    over = [word["text"] for word in words if left < word["x"] < left + side and word["y"] < top]
    assert display_tokens(labels.keys)[key] in over[-1:]
    said = " ".join(word["text"] for word in words)
    for part in ("L3 H5 · cross", "Rows ↓ ", "Columns → ", "sum to 1.", "weight 0", "below 0.05"):
        assert part in said
    assert rgb(root[0].get("fill")) == rgb(PAPER[theme])

    image = Image.open(page.save("PNG", tmp_path)).convert("RGB")
    assert image.size == (2 * number_of(root, "width"), 2 * number_of(root, "height"))
    assert image.getpixel((round(2 * left + side), round(2 * top + side))) == hot
    assert image.getpixel((2, 2)) == rgb(PAPER[theme])


def test_a_file_has_what_is_scrolled_out_and_any_word_as_text(still, tmp_path):
    odd = ("▁<b>&\u0007", *numbered(80).queries[1:])
    labels = Labels(odd, numbered(80).keys)
    weights = np.full((80, 80), 0.01, dtype=np.float32)
    weights[79, 78] = 1
    page = still(encode_map(weights, labels, "cross", title="<i> & all", languages=OURS), width=360)
    page.press("ArrowRight", "ArrowDown", "Enter")
    path = page.save("SVG", tmp_path)
    assert path.name == "headlight-i-all.svg"
    root = ET.parse(path).getroot()
    texts = [word["text"] for word in words_of(root)]
    assert {"<b>&\ufffd", "w79", "k79", "<i> & all"} <= set(texts)
    assert texts.count("w1") == 2  # the pinned row names its bars
    (picture,) = root.iter(f"{SVG}image")  # 6400 squares are one picture
    side = number_of(picture, "width") / 80
    x, y = (number_of(picture, name) + (n + 0.5) * side for name, n in (("x", 78), ("y", 79)))
    image = Image.open(page.save("PNG", tmp_path)).convert("RGB")
    assert image.getpixel((round(2 * x), round(2 * y))) == tuple(table("cross", "light")[255])
