"""The grid of heads in a real browser: does the right square of the right head light up?"""

import base64
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.browser.grid_page import (
    HEADS,
    LAYERS,
    SELECTED,
    SVG,
    check_lit,
    every,
    focused,
    images,
    ink,
    label,
    lit,
    open_grid,
    pixels,
    planted_at,
    saved,
    texts,
)
from transformer.analysis.heads.head import Head
from viz.draw.head_grid import GridPart

pytestmark = pytest.mark.browser

MARGIN = 16  # paper around a saved grid


@pytest.fixture
def new_grid(browser):
    pages = []

    def open_page(parts, **options):
        pages.append(open_grid(browser, parts, **options))
        return pages[-1]

    yield open_page
    for page in pages:
        assert page.faults == []
        page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_planted_square_lights_up_in_its_own_map(new_grid, theme):
    parts = every()
    page = new_grid(parts, color_scheme=theme)
    check_lit(page, parts, theme=theme)
    assert page.locator("[aria-selected=true]").get_attribute("aria-label") == label(*SELECTED)


def test_a_filter_leaves_the_other_kinds_away(new_grid):
    parts = every()[1:2]
    page = new_grid(parts)
    check_lit(page, parts)
    assert page.locator("[aria-selected=true]").count() == 0  # cross is not shown
    assert page.locator("[tabindex='0']").count() == 1


def test_in_an_order_of_their_own_the_maps_stay_those_of_their_heads(new_grid):
    parts = every(values=np.arange(8).reshape(LAYERS, HEADS) / 10)
    order = [
        Head(kind, layer, head)
        for head in (2, 0, 3)
        for kind in ("cross", "encoder_self")
        for layer in (1, 0)
    ]
    page = new_grid(parts, order=order)
    check_lit(page, parts, heads=order)
    boxes = page.locator("[role=gridcell]").evaluate_all(
        """(nodes) => nodes.map((node) => {
            const { top, left } = node.getBoundingClientRect();
            return [Math.round(top / 40), left, node.getAttribute("aria-label")];
        })"""
    )
    assert [name for _, _, name in sorted(boxes)] == [label(*head) for head in order]
    # over each map stand its own name and its own value
    root = ElementTree.fromstring(saved(page, "SVG"))
    words = [(float(one.attrib["x"]), float(one.attrib["y"]), one.text) for one in texts(root)]
    for kind, layer, head in order:
        left, top, wide = (
            float(images(root)[label(kind, layer, head)].attrib[at]) for at in ("x", "y", "width")
        )
        over = {text for x, y, text in words if left <= x <= left + wide and top - 12 < y < top}
        assert over == {f"L{layer + 1} H{head + 1}", f"0.{layer * HEADS + head}0"}


@pytest.mark.parametrize("step", [0, 4, 8])
def test_a_step_shows_its_row_and_fades_what_was_before_it(new_grid, step):
    parts = every()
    page = new_grid(parts, step=step)
    found = lit(page, parts)
    for part in parts:
        for number in range(LAYERS * HEADS):
            query, _ = planted_at(number, part.labels, part.kind)
            head = (part.kind, *divmod(number, HEADS))
            shown = part.kind == "encoder_self" or query <= step
            assert bool(found[label(*head)]) == shown, head
    alphas = page.evaluate(
        """(rows) => {
            const canvas = document.querySelector(".hl-grid-box canvas");
            const cell = document.querySelector("[aria-label='cross, layer 1, head 1']");
            const [x, y] = [cell.offsetLeft, cell.offsetTop];
            const alpha = (left, row) => canvas.getContext("2d").getImageData(
                left, y + (row + 0.5) * cell.offsetHeight / rows, 1, 1).data[3];
            const each = Array.from({ length: rows }, (_, row) => row);
            return [each.map((row) => alpha(x + 2, row)), each.map((row) => alpha(x - 2, row))];
        }""",
        9,
    )
    inside, beside = alphas
    assert [alpha == 255 for alpha in inside] == [row == step for row in range(9)]
    assert [alpha == 0 for alpha in inside] == [row > step for row in range(9)]
    assert [alpha > 0 for alpha in beside] == [row == step for row in range(9)]  # the mark
    note = page.locator("[role=status]").inner_text()
    assert note == f"Step {step + 1} of 9: rows after it do not exist yet."


def test_more_tokens_than_pixels_never_hide_the_square_and_the_note_says_so(new_grid):
    parts = every(queries=300, keys=200)
    page = new_grid(parts)
    check_lit(page, parts)
    assert page.locator("[role=status]").inner_text() == (
        "Small maps show blocks of 2 × 2 (encoder), 3 × 3 (decoder), 3 × 2 (cross) tokens by "
        "their largest weight. More cells than pixels: each pixel shows the largest weight that "
        "falls on it."
    )


def test_the_note_names_one_size_of_block_once(new_grid):
    page = new_grid(every(queries=300, keys=300), wide=1200, device_scale_factor=2)
    note = page.locator("[role=status]").inner_text()
    assert note == "Small maps show blocks of 3 × 3 tokens by their largest weight."


def test_keys_move_through_the_grid_and_over_the_gap_between_blocks(new_grid):
    page = new_grid(every(), wide=560)
    page.keyboard.press("Tab")
    assert focused(page) == label(*SELECTED)
    walk = [
        ("ArrowRight", ("cross", 1, 3)),
        ("ArrowRight", ("cross", 1, 3)),  # stays at the edge
        ("Home", ("cross", 1, 0)),
        ("ArrowUp", ("cross", 0, 0)),
        ("End", ("cross", 0, 3)),
    ]
    for press, head in walk:
        page.keyboard.press(press)
        assert focused(page) == label(*head), press
    # two blocks of four heads stand side by side, the third below the first
    page.keyboard.press("Home")
    for press, head in [
        ("ArrowUp", ("encoder_self", 1, 0)),
        ("End", ("encoder_self", 1, 3)),
        ("ArrowRight", ("decoder_self", 1, 0)),
        ("ArrowLeft", ("encoder_self", 1, 3)),
        ("ArrowDown", ("cross", 0, 3)),
        ("ArrowUp", ("encoder_self", 1, 3)),
        ("ArrowRight", ("decoder_self", 1, 0)),
        ("ArrowDown", ("cross", 0, 3)),  # nothing is straight below
    ]:
        page.keyboard.press(press)
        assert focused(page) == label(*head), press
    assert page.evaluate("window.picked") == []  # arrows look around, Enter and space choose
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    assert page.evaluate("window.picked") == [["cross", 0, 3], ["cross", 0, 2]]
    assert page.locator(".hl-unseen[aria-live]").inner_text() == f"{label('cross', 0, 2)} is open"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Tab")  # one stop for all maps
    assert focused(page) == "Save as PNG"
    page.keyboard.press("Shift+Tab")
    assert focused(page) == label("cross", 0, 2)


def test_hover_names_the_head_and_no_map_is_without_words(new_grid):
    roles = [["", "aligns", "", ""], ["", "", "<b>first</b>", ""]]
    values = np.arange(8).reshape(LAYERS, HEADS) - 3.0
    parts = every(roles=roles, values=values)
    page = new_grid(parts)
    page.locator(f"[aria-label='{label('decoder_self', 1, 2)}']").hover()
    tip = page.locator(".hl-tip")
    assert tip.inner_text() == "L2 H3 · decoder · <b>first</b>3.00"
    cell = page.locator(f"[aria-label='{label('cross', 0, 1)}']")
    query, key = planted_at(1, parts[2].labels, "cross")
    said = re.sub("[\u2068\u2069]", "", cell.get_attribute("aria-description"))
    assert said == f"aligns; −2.00; looks most from “t{query}” to “s{key}”, 0.91"
    page.mouse.move(1, 899)
    assert tip.is_hidden()


def test_a_role_without_room_is_left_to_the_tip_and_not_cut(new_grid):
    roles = [["a role that is far too long for its map"] * HEADS] * LAYERS
    page = new_grid(every(roles=roles), wide=358)
    drawn = "() => view.plan.texts.map(({ text }) => text)"
    assert roles[0][0] not in page.evaluate(drawn)
    page.locator("[role=gridcell]").first.hover()
    assert roles[0][0] in page.locator(".hl-tip").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 358


def test_more_heads_than_have_room_scroll_in_their_own_frame(new_grid):
    (part,) = every()[2:]
    many = GridPart("cross", np.repeat(part.weights, 32, axis=1), part.labels)
    page = new_grid([many], wide=358)
    last = page.locator(f"[aria-label='{label('cross', 0, 127)}']")
    assert page.evaluate("document.documentElement.scrollWidth") <= 358
    assert page.locator(".hl-more-right").count() == 1
    last.click()
    assert page.evaluate("window.picked") == [["cross", 0, 127]]
    cell, tip = last.bounding_box(), page.locator(".hl-tip").bounding_box()
    assert cell["x"] + cell["width"] <= 358
    assert 0 <= tip["x"] <= cell["x"]
    assert tip["x"] + tip["width"] <= 358
    assert page.locator(".hl-more-right").count() == 0


@pytest.mark.parametrize("flow", [False, True])
def test_no_word_is_cut_at_an_edge(new_grid, flow):
    (part,) = every()[2:]
    deep = GridPart(
        "cross",
        np.repeat(part.weights, 6, axis=0),
        part.labels,
        [["aligns"] * HEADS] * 12,
        np.full((12, HEADS), -12.5) if flow else None,
    )
    order = [Head("cross", layer, 0) for layer in range(12)] if flow else None
    page = new_grid([deep], order=order, wide=358)
    beyond = page.evaluate("""() => {
        const { texts, width, height } = view.plan;
        const pen = document.createElement("canvas").getContext("2d");
        const { fontFamily } = getComputedStyle(document.querySelector(".hl"));
        return texts.filter(({ text, x, y, size, bold, align = "start" }) => {
            pen.font = `${bold ? 600 : 400} ${size}px ${fontFamily}`;
            pen.textAlign = { start: "left", middle: "center", end: "right" }[align];
            const box = pen.measureText(text);
            return x - box.actualBoundingBoxLeft < -0.5 || y - box.actualBoundingBoxAscent < 0
                || x + box.actualBoundingBoxRight > width + 0.5
                || y + box.actualBoundingBoxDescent > height;
        });
    }""")
    assert beyond == []


def test_drawing_again_keeps_elements_focus_and_picture(new_grid):
    parts = every()
    page = new_grid(parts)
    page.locator(f"[aria-label='{label('encoder_self', 1, 1)}']").focus()
    page.evaluate("() => { window.before = [...document.querySelectorAll('[role=gridcell]')]; }")
    page.evaluate("window.again({ selected: ['cross', 0, 0] })")
    assert page.evaluate(
        """() => window.before.length === 24 && [...document.querySelectorAll("[role=gridcell]")]
            .every((node, n) => node === window.before[n])"""
    )
    assert focused(page) == label("encoder_self", 1, 1)
    check_lit(page, parts)
    # another order moves the maps under the same focus
    order = [["cross", 0, 0], ["encoder_self", 1, 1], ["decoder_self", 0, 2]]
    page.evaluate("(order) => window.again({ order })", order)
    assert focused(page) == label("encoder_self", 1, 1)
    check_lit(page, parts, heads=[tuple(head) for head in order])


def test_a_late_answer_switches_nothing_on_that_was_clicked_since(new_grid):
    page = new_grid(every())

    def answered(*heads):
        page.evaluate("heads => again({ switches: true, crossed: heads })", heads)
        return page.locator("[aria-label$='switched off']").count()

    first, second = ("cross", 0, 1), ("cross", 1, 0)
    assert answered() == 0
    for head in (first, second):
        page.get_by_role("gridcell", name=label(*head)).click()
    assert answered(first) == 2
    assert answered(first, second) == 2
    assert answered(first) == 1  # by a button beside the grid
    page.get_by_role("gridcell", name=label(*second)).click()
    assert answered() == 0  # nor when an answer is none to that click


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_saved_pictures_show_what_is_on_the_screen(new_grid, theme):
    roles = [["", "", "", ""], ["", "", "<b>&", ""]]
    parts = every(roles=roles)
    page = new_grid(parts, color_scheme=theme, step=8)
    boxes = page.locator("[role=gridcell]").evaluate_all(
        """(nodes) => Object.fromEntries(nodes.map((node) => [node.getAttribute("aria-label"),
            [node.offsetLeft, node.offsetTop, node.offsetWidth, node.offsetHeight]]))"""
    )
    image = pixels(saved(page, "PNG"))
    root = ElementTree.fromstring(saved(page, "SVG"))
    assert set(images(root)) == set(boxes)
    encoder = parts[0]
    for number in range(LAYERS * HEADS):
        name = label("encoder_self", *divmod(number, HEADS))
        left, top, wide, high = boxes[name]
        said = images(root)[name].attrib
        drawn = [float(said[at]) for at in ("x", "y", "width", "height")]
        assert drawn == [left + MARGIN, top + MARGIN, wide, high]
        tile = pixels(base64.b64decode(said["href"].partition(",")[2]))
        cut = image[2 * (top + MARGIN) :, 2 * (left + MARGIN) :][: 2 * high, : 2 * wide]
        query, key = planted_at(number, encoder.labels, "encoder_self")
        for picture in (tile, cut):
            assert picture.shape == (2 * high, 2 * wide, 3)
            hot = np.argwhere((picture == ink("encoder_self", theme)).all(-1))
            place = [hot.min(0), hot.max(0) + 1] / np.array([2 * high, 2 * wide])
            want = np.array([[query, key], [query + 1, key + 1]]) / 7
            assert np.abs(place - want).max() < 0.02
    words = [one.text for one in texts(root)]
    assert {"encoder", "decoder", "cross", "L2", "H4", "<b>&"} <= set(words)
    assert words[-1] == "Step 9 of 9: rows after it do not exist yet."
    # both on the page's paper, with the outline of the selected map in its ink
    paper, *_, around = [one.attrib for one in root.iter(f"{SVG}rect")]
    left, top, *_ = boxes[label(*SELECTED)]
    assert (float(around["x"]), float(around["y"])) == (
        left - 2.25 + MARGIN,
        top - 2.25 + MARGIN,
    )
    for color, at in [(paper["fill"], (0, 0)), (around["stroke"], (2 * top + 50, 2 * left + 28))]:
        assert color == "#" + bytes(image[at]).hex()
    assert (image[0, 0].mean() > 128) == (theme == "light")
