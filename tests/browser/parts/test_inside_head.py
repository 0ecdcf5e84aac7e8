"""The inside of a head: each value stands where it says, and the walk shows its step."""

import numpy as np
import pytest

from tests.browser.offline import PAPER, Still, rgb
from tests.browser_colors import browser_table
from transformer.paper import arithmetic
from viz.draw import inside_head

pytestmark = pytest.mark.browser

KEYS = ("▁Two", "▁black", "▁dogs", "</s>")
NAMES = ("All", "x", "q, k, v", "q · k", "scale", "mask", "softmax", "Σ α v", "Wᴼ", "+ x")
BACK, ON = "One step back", "One step on"
HEADS, D_K, D_V, D_MODEL = 4, 8, 8, 32


def numbers():
    """All is small, but for one value of k, two of α v and one in the stream."""
    draw = np.random.default_rng(5)

    def small(*shape):
        return draw.uniform(-0.01, 0.01, shape).astype(np.float32)

    k, weighted, added = small(4, D_K), small(4, D_V), small(D_MODEL)
    k[2, 5], weighted[1:3, 3], added[30] = 2, -3, 4
    return arithmetic.Arithmetic(
        x=small(D_MODEL), q=small(D_K), k=k, v=small(4, D_V), products=small(4, D_K),
        dots=np.array([1.5, -2.25, 160.0, 0], np.float32),
        scaled=np.array([0.25, -0.125, 9.0, 0], np.float32),
        seen=np.array([True, True, True, False]),
        weights=np.array([0.25, 0.0001, 0.7499, 0], np.float32),
        weighted=weighted, z=small(D_V), concat=small(HEADS, D_V),
        norms=np.array([1, 4, 2, 0.5], np.float32),
        result=small(D_MODEL), others=small(D_MODEL), added=added, normalised=small(D_MODEL),
    )  # fmt: skip


def content(step=0, query="Hunde", **more):
    steps = [
        inside_head.WalkStep(name, f"e_{n}", f"shape {n}", f"says {n}", f"code {n}")
        for n, name in enumerate(NAMES)
    ]
    return inside_head.encode_inside(
        numbers(), KEYS, query, "cross",
        title="L1 H2 · cross", steps=steps, step=step, head=1, factor="÷ √dₖ", **more,
    )  # fmt: skip


# strips of colours in the order in which they are painted
STRIPS = (
    "x", "q", "k", "products", "v", "weighted", "z", "concat", "result", "others", "stream",
    "added", "normalised",
)  # fmt: skip


def place(page, name, row=0, column=0):
    """The middle of a value on the canvas, where all strips are drawn."""
    picture = page.canvas.evaluate(
        "(canvas, n) => { const { wide, high, from, to } = canvas.painted.pictures[n];"
        " return { wide, high, from, to }; }",
        STRIPS.index(name),
    )
    (left, top), (right, foot) = picture["from"], picture["to"]
    x = left + (column + 0.5) * (right - left) / picture["wide"]
    return x, top + (row + 0.5) * (foot - top) / picture["high"]


def press(page, name):
    page.page.get_by_role("button", name=name, exact=True).click()


def step_of(page):
    return str(page.page.locator(".hl-steps [aria-pressed=true]").inner_text())


def test_a_value_has_its_colour_and_its_name_at_its_place(still):
    page = still(content(), width=1200)
    colors = browser_table("difference", "light")
    for name, row, column, level in (
        ("k", 2, 5, 255), ("weighted", 1, 3, 1), ("added", 0, 30, 255),
    ):  # fmt: skip
        assert page.color(*place(page, name, row, column)) == tuple(colors[level])
    beside = np.array(page.color(*place(page, "k", 1, 5)))
    assert np.abs(beside - colors[128].astype(int)).max() < 90  # far from the strongest
    for at, note in (
        (place(page, "k", 2, 5), "k · “dogs” · 6 of 82"),
        (place(page, "weighted", 1, 3), "α v · “black” · 4 of 8−3"),
        (place(page, "added", 0, 30), "x + all heads · 31 of 324"),
        (place(page, "concat", 0, D_V + 2), "z of head 2, this one · 3"),
        (place(page, "concat", 0, 3 * D_V), "z of head 4 · 1"),
        (page.spot("160"), "q · k · “dogs”160"),
        (page.spot("−0.13"), "q · k ÷ √dₖ · “black”−0.125"),
        (page.spot("− ∞"), "mask · “end”hidden"),
        (page.spot("0.250"), "α · “Two”0.25"),
    ):
        page.move(*at)
        assert page.readout().startswith(note)
    # the row of a key is shaded under the pointer
    y = page.spot("160")[1]
    page.move(*page.spot("160"))
    assert page.color(3, y) != rgb(PAPER["light"])
    page.page.mouse.move(1, 890)
    assert page.color(3, y) == rgb(PAPER["light"])
    # a page that is zoomed has a picture of more pixels
    cdp = page.page.context.new_cdp_session(page.page)
    size = {"width": 1200, "height": 700, "mobile": False}  # as wide as before
    cdp.send("Emulation.setDeviceMetricsOverride", {**size, "deviceScaleFactor": 2})
    page.page.wait_for_function(
        "() => { const canvas = document.querySelector('.hl canvas');"
        " return canvas.width === 2 * canvas.clientWidth; }"
    )
    cdp.send("Emulation.clearDeviceMetricsOverride")
    cdp.detach()


def test_the_walk_goes_on_and_back_and_plays(browser):
    tab = browser.new_page(offline=True, locale="de-DE")  # its clock is its own
    tab.clock.install()
    page = Still(tab, content(), width=1200)
    button = {name: tab.get_by_role("button", name=name, exact=True) for name in (BACK, ON)}
    assert button[BACK].is_disabled()
    for n in range(1, len(NAMES)):
        press(page, ON)
        assert step_of(page) == NAMES[n]
        text = tab.locator(".hl-told").inner_text()
        assert all(part in text for part in (f"says {n}", f"shape {n}", f"code {n}"))
        equation = tab.locator(".hl-equation math > msub > *").all_text_contents()
        assert equation == ["e", str(n)]
    assert button[ON].is_disabled()
    assert button[ON].evaluate("button => button === document.activeElement")
    tab.keyboard.press("Enter")
    assert step_of(page) == "+ x"
    press(page, BACK)
    press(page, "q · k")
    # what a later step makes is not there yet, and nothing jumps when it is made
    frame = tab.locator(".hl-frame")
    height = frame.bounding_box()["height"]
    strips = "document.querySelector('.hl canvas').painted.pictures.length"
    assert tab.evaluate(strips) == 5
    press(page, "Σ α v")
    assert tab.evaluate(strips) == 7
    assert frame.bounding_box()["height"] == height
    # another word keeps the step
    page.show(content(query="Schnee"))
    assert step_of(page) == "Σ α v"
    assert "Schnee" in tab.locator(".hl-title").inner_text()
    heard = [*range(1, len(NAMES)), 8, 3, 7]
    assert page.picked() == heard
    press(page, "▶ Play")
    assert step_of(page) == "Wᴼ"
    assert tab.get_by_role("button", name="Pause").is_visible()
    for _ in range(2):
        tab.clock.fast_forward(2400)
    assert step_of(page) == "+ x"
    press(page, "▶ Play")  # at the end, from the beginning
    assert step_of(page) == "x"
    press(page, "❚❚ Pause")
    tab.clock.fast_forward(9000)
    assert step_of(page) == "x"
    assert page.picked() == heard  # the host hears of no step that plays
    # a walk that plays by itself does so until the reader acts
    tab.emulate_media(reduced_motion="no-preference")
    page = Still(tab, content(step=1, plays=True), width=1200)
    assert step_of(page) == "x"
    tab.clock.fast_forward(2400)
    assert step_of(page) == "q, k, v"
    tab.keyboard.press("Shift")  # outside the picture
    tab.clock.fast_forward(9000)
    assert step_of(page) == "q, k, v"
    page.show(content(step=1, query="Schnee", plays=True))
    tab.clock.fast_forward(9000)
    assert step_of(page) == "q, k, v"
    assert page.faults == []
    tab.close()
