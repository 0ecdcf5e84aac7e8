"""The inside of a head: does each value stand where it says, and does the walk show its step?"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

from tests.browser.still import PAPER, SVG, Still, rgb, words_of
from transformer.analysis.paper.arithmetic import Arithmetic
from viz.draw.inside_head import WalkStep, encode_inside
from viz.draw.palette import COLOR, difference_table

pytestmark = pytest.mark.browser

KEYS = ("▁Two", "▁black", "▁dogs", "</s>")
NAMES = ("All", "x", "q, k, v", "q · k", "scale", "mask", "softmax", "Σ α v", "Wᴼ", "+ x")
HEADS, D_K, D_V, D_MODEL = 4, 8, 8, 32


def numbers() -> Arithmetic:
    """All is small, but for one value of k, two of α v and one in the stream."""
    draw = np.random.default_rng(5)

    def small(*shape: int) -> np.ndarray:
        return draw.uniform(-0.01, 0.01, shape).astype(np.float32)

    k, weighted, added = small(4, D_K), small(4, D_V), small(D_MODEL)
    k[2, 5], weighted[1:3, 3], added[30] = 2, -3, 4
    return Arithmetic(
        x=small(D_MODEL), q=small(D_K), k=k, v=small(4, D_V), products=small(4, D_K),
        dots=np.array([1.5, -2.25, 160.0, 0], np.float32),
        scaled=np.array([0.25, -0.125, 9.0, 0], np.float32),
        seen=np.array([True, True, True, False]),
        weights=np.array([0.25, 0.0001, 0.7499, 0], np.float32),
        weighted=weighted, z=small(D_V), concat=small(HEADS, D_V),
        norms=np.array([1, 4, 2, 0.5], np.float32),
        result=small(D_MODEL), others=small(D_MODEL), added=added, normalised=small(D_MODEL),
    )  # fmt: skip


def content(step: int = 0, query: str = "Hunde") -> bytes:
    steps = [
        WalkStep(
            name, ("msub", (("mi", "e"), ("mn", str(n)))), f"shape {n}", f"says {n}", f"code {n}"
        )
        for n, name in enumerate(NAMES)
    ]
    return encode_inside(
        numbers(), KEYS, query, "cross",
        title="L1 H2 · cross", steps=steps, step=step, head=1, factor="÷ √dₖ",
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page(offline=True)
    yield page
    page.close()


@pytest.fixture
def still(page):
    opened = []

    def open_page(step=0, **options):
        opened.append(Still(page, content(step), **{"width": 1200, **options}))
        return opened[-1]

    yield open_page
    assert [fault for one in opened for fault in one.faults] == []


def parts_of(still: Still) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = still.of_view("plan.parts")
    return parts


def place(still: Still, name: str, row: int = 0, column: int = 0, last: bool = False):
    """The middle of a value on the canvas."""
    parts = [part for part in parts_of(still) if part["name"] == name]
    part = parts[-1 if last else 0]
    array = np.asarray(getattr(numbers(), name))
    rows = len(KEYS) if part["perKey"] else 1
    wide, high = part["width"] * rows / array.size, part["height"] / rows
    return part["x"] + (column + 0.5) * wide, part["y"] + (row + 0.5) * high


def press(still: Still, name: str) -> None:
    still.page.get_by_role("button", name=name, exact=True).click()


def step_of(still: Still) -> int:
    step: int = still.of_view("step")
    return step


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_large_value_has_the_strongest_colour_at_its_place(still, theme) -> None:
    drawn = still(theme=theme)
    colors = difference_table(theme)
    assert drawn.color(*place(drawn, "k", 2, 5)) == tuple(colors[255])
    assert drawn.color(*place(drawn, "weighted", 1, 3)) == tuple(colors[1])
    assert drawn.color(*place(drawn, "added", 0, 30)) == tuple(colors[255])
    middle = colors[128].astype(int)
    for name, row, column in (("k", 1, 5), ("weighted", 1, 4), ("added", 0, 29)):
        # of another value, and so another shade, but far from the strongest
        assert np.abs(np.array(drawn.color(*place(drawn, name, row, column))) - middle).max() < 90


def test_a_page_that_is_zoomed_has_a_picture_of_more_pixels(still) -> None:
    drawn = still()
    cdp = drawn.page.context.new_cdp_session(drawn.page)
    size = {"width": 1200, "height": 700, "mobile": False}  # as wide as before
    cdp.send("Emulation.setDeviceMetricsOverride", {**size, "deviceScaleFactor": 2})
    try:
        drawn.page.wait_for_function("() => view.canvas.width === 2 * view.canvas.clientWidth")
    finally:
        cdp.send("Emulation.setDeviceMetricsOverride", {**size, "deviceScaleFactor": 1})
        cdp.detach()


def test_a_hairline_parts_the_rows(still) -> None:
    drawn = still()
    x, y = place(drawn, "weighted", 1, 3)
    row = drawn.of_view("plan.row")
    paper = np.array(rgb(PAPER["light"]))
    between, inside = (np.array(drawn.color(x, y + off)) for off in (row / 2 - 0.5, row / 4))
    assert np.abs(between - paper).max() < np.abs(inside - paper).max()


def test_each_key_has_its_numbers_in_its_row(still) -> None:
    drawn = still()
    for n, (dots, scaled, mask, weight) in enumerate(
        [
            ("1.50", "0.25", "+ 0", "0.250"),
            ("−2.25", "−0.13", "+ 0", "< 0.001"),
            ("160", "9.00", "+ 0", "0.750"),
            ("0.00", "0.00", "− ∞", "0"),
        ]
    ):
        _, y = place(drawn, "dots", n)
        there = [word["text"] for word in drawn.words("All") if abs(word["y"] - y) < 3]
        assert there == [["Two", "black", "dogs", "</s>"][n], dots, scaled, mask, weight]


def test_a_bar_is_as_long_as_its_weight(still) -> None:
    drawn = still()
    (part,) = [p for p in parts_of(drawn) if p["name"] == "weights"]
    most, kind = part["width"] - 50, rgb(COLOR["cross"])
    for row, weight in enumerate(numbers().weights.tolist()):
        _, y = place(drawn, "weights", row)
        if weight > 0.01:
            assert drawn.color(part["x"] + weight * most - 2, y) == kind
        assert drawn.color(part["x"] + weight * most + 3, y) != kind


def test_the_bar_of_a_head_is_as_long_as_what_it_adds(still) -> None:
    drawn = still()
    (part,) = [p for p in parts_of(drawn) if p["name"] == "norms"]
    x = part["x"] + 1.5 * part["width"] / HEADS
    full = part["height"] - 16
    assert drawn.color(x, part["y"] + full - 2) == rgb(COLOR["cross"])  # this head, the longest
    x = part["x"] + 2.5 * part["width"] / HEADS
    inside, below = (drawn.color(x - 40, part["y"] + full / 2 + off) for off in (-2, 2))
    assert inside != rgb(PAPER["light"])
    assert below == rgb(PAPER["light"])


@pytest.mark.parametrize(
    ("name", "row", "column", "says"),
    [
        ("k", 2, 5, "k · “dogs” · 6 of 82"),
        ("weighted", 1, 3, "α v · “black” · 4 of 8−3"),
        ("dots", 2, 0, "q · k · “dogs”160"),
        ("scaled", 1, 0, "q · k ÷ √dₖ · “black”−0.125"),
        ("seen", 3, 0, "mask · “</s>”hidden"),
        ("weights", 0, 0, "α · “Two”0.25"),
        ("norms", 0, 1, "length of what head 2 adds4"),
        ("added", 0, 30, "x + all heads · 31 of 324"),
    ],
)
def test_pointing_tells_what_a_value_is(still, name, row, column, says) -> None:
    drawn = still()
    drawn.move(*place(drawn, name, row, column))
    assert drawn.tip.inner_text().replace("\u2068", "").replace("\u2069", "") == says


def test_z_of_another_head_says_whose_it_is(still) -> None:
    drawn = still()
    drawn.move(*place(drawn, "concat", 0, D_V + 2))
    assert "z of head 2, this one · 3" in drawn.tip.inner_text()
    drawn.move(*place(drawn, "concat", 0, 3 * D_V))
    assert "z of head 4 · 1" in drawn.tip.inner_text()


def test_the_walk_goes_on_and_back_and_tells_each_step(still) -> None:
    drawn = still()
    assert drawn.page.get_by_role("button", name="Back", exact=True).is_disabled()
    for n in range(1, len(NAMES)):
        press(drawn, "Next")
        told = drawn.page.locator(".hl-told").inner_text()
        assert step_of(drawn) == n
        equation = drawn.page.locator(".hl-equation math > msub > *").all_text_contents()
        assert equation == ["e", str(n)]
        assert all(part in told for part in (f"says {n}", f"shape {n}", f"code {n}"))
        pressed = drawn.page.locator(".hl-steps [aria-pressed=true]")
        assert pressed.all_inner_texts() == [NAMES[n]]
    assert drawn.page.get_by_role("button", name="Next", exact=True).is_disabled()
    assert drawn.page.evaluate("document.activeElement.textContent") == "Next"  # focus stays
    drawn.page.keyboard.press("Enter")
    assert step_of(drawn) == len(NAMES) - 1
    press(drawn, "Back")
    assert step_of(drawn) == len(NAMES) - 2
    press(drawn, "mask")
    assert step_of(drawn) == 5


def test_what_a_later_step_makes_is_not_there_yet(still) -> None:
    drawn = still(step=3)
    paper = rgb(PAPER["light"])
    assert drawn.color(*place(drawn, "k", 2, 5)) != paper
    assert drawn.color(*place(drawn, "weighted", 1, 3)) == paper
    drawn.move(*place(drawn, "weighted", 1, 3))
    assert drawn.tip.is_hidden()
    height = drawn.page.locator(".hl-frame").bounding_box()["height"]
    press(drawn, "Σ α v")
    assert drawn.color(*place(drawn, "weighted", 1, 3)) != paper
    assert drawn.page.locator(".hl-frame").bounding_box()["height"] == height  # nothing jumps


def test_no_two_parts_lie_over_each_other(still) -> None:
    for width in (1200, 390):
        parts = parts_of(still(width=width))
        for n, one in enumerate(parts):
            for other in parts[:n]:
                beside = (
                    other["x"] + other["width"] < one["x"] or one["x"] + one["width"] < other["x"]
                )
                under = other["y"] + other["height"] <= one["y"]
                assert beside or under, (one["name"], other["name"])


def test_each_part_is_made_at_its_step(still) -> None:
    steps = {part["name"]: part["step"] for part in parts_of(still())[1:]}
    assert steps == {
        "q": 2, "k": 2, "v": 2, "products": 3, "dots": 3, "scaled": 4, "seen": 5, "weights": 6,
        "weighted": 7, "z": 7, "concat": 8, "norms": 8, "result": 8,
        "others": 9, "x": 9, "added": 9, "normalised": 9,
    }  # fmt: skip


def test_a_lower_picture_leaves_what_is_under_it_where_it_was(still) -> None:
    drawn = still(step=2, width=390)
    foot = drawn.page.locator(".hl-foot").bounding_box()["y"]
    press(drawn, "Back")
    assert drawn.of_view("plan.height") < 60
    assert drawn.page.locator(".hl-foot").bounding_box()["y"] >= foot - 40  # its words may be fewer


def test_it_plays_to_the_end_and_stops(still) -> None:
    drawn = still(step=7)
    drawn.page.clock.install()
    press(drawn, "Play")
    assert step_of(drawn) == 8
    assert drawn.page.get_by_role("button", name="Pause").is_visible()
    drawn.page.clock.fast_forward(2400)
    assert step_of(drawn) == 9
    drawn.page.clock.fast_forward(2400)
    assert drawn.page.get_by_role("button", name="Play", exact=True).is_visible()
    press(drawn, "Play")
    assert step_of(drawn) == 1
    press(drawn, "Pause")
    drawn.page.clock.fast_forward(9000)
    assert step_of(drawn) == 1


def test_another_word_keeps_the_step(still) -> None:
    drawn = still(step=2)
    press(drawn, "softmax")
    drawn.show(content(2, query="Schnee"))
    assert step_of(drawn) == 6
    assert "Schnee" in drawn.page.locator(".hl-title").inner_text()


def test_on_a_narrow_screen_a_step_fits_and_the_whole_scrolls(still) -> None:
    drawn = still(width=390)
    for step in range(1, len(NAMES)):
        press(drawn, "Next")
        plan = drawn.of_view("plan")
        assert plan["width"] <= 390
        names = {part["name"] for part in plan["parts"] if part["step"] == step}
        assert names, step
        ends = {part["name"]: part["x"] + part["width"] for part in plan["parts"]}
        assert {name: end for name, end in ends.items() if end > 390.01} == {}
    press(drawn, "All")
    frame = drawn.scroll.evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert frame[0] > frame[1]


def test_there_is_a_table_for_those_who_do_not_see(still) -> None:
    rows = still().page.locator(".hl-unseen tr").all_inner_texts()
    assert [row.split("\t") for row in rows[1:3]] == [
        ["Two", "1.5", "0.25", "seen", "0.25"],
        ["black", "−2.25", "−0.125", "seen", "0.0001"],
    ]
    assert rows[4].split("\t") == ["</s>", "0", "0", "hidden", "0"]


# each value that is read counts, and each canvas that is made: by the way they are made; from the
# second frame on, since the first one tells a new picture its width, and it is drawn once more
COUNT = """async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    await frame();
    await frame();
    window.counts = { values: 0, canvases: 0 };
    const counting = (array) => new Proxy(array, {
        get(target, name) {
            const found = target[name];
            if (typeof found === "function") { // it may read or copy all of them
                counts.values += target.length;
                return found.bind(target);
            }
            if (typeof name === "string" && /^\\d+$/.test(name)) counts.values += 1;
            return found;
        },
    });
    const { arrays } = view.data;
    for (const name of Object.keys(arrays)) arrays[name] = counting(arrays[name]);
    const create = document.createElement.bind(document);
    document.createElement = (tag) => {
        counts.canvases += tag === "canvas";
        return create(tag);
    };
}"""


def test_a_move_of_the_pointer_reads_one_value_and_copies_none(still) -> None:
    drawn = still()
    drawn.page.evaluate(COUNT)
    moves = [("k", row, column) for row in range(4) for column in (0, 5)]
    moves += [("added", 0, 30), ("scaled", 3, 0), ("weights", 0, 0)]
    for move in moves:
        drawn.move(*place(drawn, *move))
        assert drawn.tip.is_visible()
    counts = drawn.page.evaluate("counts")
    assert 0 < counts["values"] <= len(moves)
    assert counts["canvases"] == 0
    press(drawn, "softmax")  # the counter counts: another step is drawn afresh
    assert drawn.page.evaluate("counts.values") > np.size(numbers().k)


def test_the_row_of_a_key_is_shaded_under_the_pointer(still) -> None:
    drawn = still()
    x, y = 3, place(drawn, "dots", 2)[1]
    assert drawn.color(x, y) == rgb(PAPER["light"])
    drawn.move(*place(drawn, "dots", 2))
    assert drawn.color(x, y) != rgb(PAPER["light"])
    drawn.move(*place(drawn, "dots", 0))
    assert drawn.color(x, y) == rgb(PAPER["light"])


def test_the_host_hears_of_a_step_that_is_taken_and_of_none_that_plays(still) -> None:
    drawn = still()
    drawn.page.evaluate(
        "() => { window.heard = []; view.options.onSelect = (n) => heard.push(n); }"
    )
    drawn.page.clock.install()
    press(drawn, "mask")
    press(drawn, "Next")
    press(drawn, "Play")
    drawn.page.clock.fast_forward(2400)
    press(drawn, "Back")
    assert drawn.page.evaluate("heard") == [5, 6, 7]


def test_the_file_has_the_words_and_the_values(still, tmp_path) -> None:
    drawn = still()
    svg = ET.parse(drawn.save("SVG", tmp_path)).getroot()
    words = [word["text"] for word in words_of(svg)]
    for word in ("Two", "dogs", "160", "− ∞", "0.250", "says 0", "z = Σ α v"):
        assert word in words
    strongest = "rgb({},{},{})".format(*difference_table("light")[255])
    assert sum(node.get("fill") == strongest for node in svg.iter(f"{SVG}rect")) >= 2
    assert drawn.save("PNG", tmp_path).stat().st_size > 5000
