"""Each page on a projector, on a phone, and by axe-core in both themes."""

import os
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from urllib.parse import urlencode

import pytest

from tests.browser import accessibility, lesson_layout
from tests.browser.app_page import AT_REST, PATIENCE, SENTENCE, enter, german, until, url
from tests.browser.parts.first_views import measured
from tests.viz.planted_trace import planted
from viz.app.lessons.library import BUNDLED_LESSONS
from viz.app.links.navigation import REMOVE_HEADS, VIEW
from viz.app.sentence.source_box import EXAMPLES
from viz.draw.labels import PAGE_TITLES
from viz.lessons import read_lesson
from viz.report import report

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

TEXT = "Two black dogs are running through the deep white snow today."  # 12 tokens
BAR, CONTROLS = 80, 48  # most pixels of height
MAX_STOPS = 21  # eight of them are the navigation and the menus beside it
WIDE, HIGH = 390, 844  # of the phone
MAIN = "document.querySelector('[data-testid=stMain]')"
MODES = [replace(mode, size=(1280, 720), checks={}) for mode in accessibility.MODES[:2]]


@pytest.fixture(scope="module")
def axe():
    if accessibility.AXE.is_file():
        return
    message = "axe-core is not installed (npm ci)"
    if os.environ.get("HEADLIGHT_REQUIRE_NODE") == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def opener(page, address):
    """Open pages of the app in a tab, until they are at rest."""

    def open_(path, **url):
        enter(page, f"{address}/{path}?{urlencode(url)}")
        page.locator(AT_REST).wait_for()
        return page

    return open_


@pytest.fixture(scope="module")
def desk(browser):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)
    return page


@pytest.fixture(scope="module")
def phone(browser, bundled_address):
    page = browser.new_page(viewport={"width": WIDE, "height": HIGH}, has_touch=True)
    page.set_default_timeout(PATIENCE)
    return opener(page, bundled_address)


def height(locator):
    """Measure an element, in pixels."""
    return locator.bounding_box()["height"]


def span(page, selector):
    """Return top and bottom of an element, from the top of the screen."""
    box = page.locator(selector).bounding_box()
    return box["y"], box["y"] + box["height"]


def expect_low(page):
    """The sentence and the controls leave the screen to the picture."""
    for parts, most in ((".st-key-sentence-bar", BAR), ("[class*='-controls']", CONTROLS)):
        heights = page.locator(parts).evaluate_all(
            "all => all.map(e => e.getBoundingClientRect().height)"
        )
        assert max(heights, default=0) <= most


@pytest.mark.usefixtures("axe")
def test_each_picture_is_in_sight_of_a_projector_and_no_page_has_a_serious_fault(
    desk, bundled_address
):
    page = desk
    serious, faults = {}, []
    page.on("pageerror", lambda error: faults.append((page.url, str(error))))
    page.on(
        "console",
        lambda message: (
            faults.append((page.url, message.text)) if message.type == "error" else None
        ),
    )
    for number, path in enumerate(PAGE_TITLES):
        view = measured(page, bundled_address, path)
        assert view.top <= 0.6 * 720, path
        assert view.foot <= 720, path
        assert view.shift < 0.05, (path, view.shift)
        assert len(view.names) <= MAX_STOPS, (path, view.names)
        expect_low(page)
        # all that copies, learns and goes elsewhere comes before the sentence
        assert view.names.index("Copy link") < view.names.index("Lessons") < 8, path
        is_used = import_module(f"viz.pages.{path}").PAGE.needs_sentence
        assert ("English" in view.names) == is_used, path
        # each page in one mode: `python -m benchmarks accessibility` takes all in each
        serious[path] = accessibility.faults(page, MODES[number < len(PAGE_TITLES) / 2])
    # the box grows with the sentence
    box = page.get_by_label("English")
    line = height(box)
    box.fill(f"{TEXT} " * 4)
    assert height(box) > 1.3 * line
    assert box.evaluate("box => box.scrollHeight <= box.clientHeight + 1")
    box.fill(TEXT)
    assert height(box) == line
    opener(page, bundled_address)("roles", text=TEXT, **{VIEW: REMOVE_HEADS})
    serious[REMOVE_HEADS] = accessibility.faults(page, MODES[0])
    assert not any(serious.values()), serious
    assert faults == []


def test_a_tap_closes_the_menu_and_shows_what_it_opens(phone):
    page = phone("heads", text=SENTENCE, kind="cross-attention", layer="1", head="1")
    page.locator(".st-key-heads-map .hl canvas").first.wait_for()
    expect_wide(page)
    assert span(page, ".st-key-heads-map")[0] > HIGH
    scrolled = lambda: page.locator("[data-testid=stMain]").evaluate("e => e.scrollTop")  # noqa: E731
    page.get_by_role("gridcell", name="cross-attention, layer 1, head 2").tap()
    until(page, lambda: span(page, ".st-key-heads-map")[1] <= HIGH + 1, True)
    assert span(page, ".st-key-heads-map")[0] >= 0
    before = scrolled()
    page.locator(AT_REST).wait_for()
    page.get_by_role("gridcell", name="cross-attention, layer 2, head 2").dispatch_event("click")
    page.get_by_role("heading", name="L2 H2 · cross").first.wait_for()
    assert scrolled() == before  # it is in sight

    drawer = page.locator("[data-testid=stSidebar]")
    closed = lambda: drawer.get_attribute("data-collapsed")  # noqa: E731
    page.get_by_role("button", name="Expand sidebar").tap()
    until(page, closed, "false")
    page.reload()
    page.locator(AT_REST).wait_for()
    until(page, closed, "true")
    page.get_by_role("button", name="Expand sidebar").tap()  # again, after a reload with it open
    until(page, closed, "false")
    page.get_by_role("link", name="Masks", exact=True).tap()
    page.get_by_role("heading", name="Masks", level=1).wait_for()
    until(page, closed, "true")
    page.locator(AT_REST).wait_for()
    assert closed() == "true"
    # out of sight, out of the way of the keyboard
    assert page.get_by_role("link", name="All heads", exact=True).count() == 0

    expect_choices_inside(page)
    page.get_by_role("button", name="Examples").tap()
    for example in EXAMPLES["English"]:
        box = page.get_by_role("menuitem", name=example).bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= WIDE
    page.get_by_role("menuitem", name=EXAMPLES["English"][-1]).tap()
    until(page, lambda: page.get_by_label("English").input_value(), EXAMPLES["English"][-1])
    german(page).wait_for()
    # the keyboard of the phone stays away
    assert page.evaluate("document.activeElement.tagName") not in ("INPUT", "TEXTAREA")


def expect_wide(page):
    """The page is as wide as the phone, and its sentence has a line of its own, with its label."""
    assert page.evaluate(f"{MAIN}.scrollWidth") <= WIDE
    width = page.get_by_label("English").evaluate("e => e.getBoundingClientRect().width")
    assert width > 270


def expect_choices_inside(page):
    """No choice reaches out of its row."""
    choices = page.locator(".stButtonGroup button")
    choices.nth(2).wait_for()
    past = choices.evaluate_all("""all => all.map(e => e.getBoundingClientRect().right
        - e.closest('.stButtonGroup').getBoundingClientRect().right)""")
    assert max(past) <= 0.5


# of each choice its top, left and right, and whether all of its borders are seen
CHOICES = """all => all.map(node => {
    const style = getComputedStyle(node);
    const seen = ["Left", "Right", "Top", "Bottom"].every(side =>
        style[`border${side}Width`] === "1px" && !/, 0\\)$/.test(style[`border${side}Color`]));
    const { top, left, right } = node.getBoundingClientRect();
    return [top, left, right, seen];
})"""
# how many toolbars of tables there are, and the words that they cover
COVERED = """() => {
    const bars = [...document.querySelectorAll("[data-testid=stElementToolbar]")]
        .filter(bar => bar.closest(".stElementContainer").querySelector(".stDataFrame"))
        .map(bar => bar.getBoundingClientRect()).filter(bar => bar.width);
    const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom
        && b.top < a.bottom;
    const words = [...document.querySelectorAll("h3, p, [data-testid=stText]")]
        .filter(word => bars.some(bar => over(bar, word.getBoundingClientRect())));
    return [bars.length, words.map(word => word.innerText)];
}"""


def test_nothing_is_covered_cut_or_wider_than_a_phone(phone, bundled_address):
    page = phone("tables", text=SENTENCE)
    page.locator("[data-testid=stDataFrame]").first.wait_for()
    bars, covered = page.evaluate(COVERED)
    assert bars > 0
    assert covered == []
    for path in ("heads", "translate", "roles"):
        assert measured(page, bundled_address, path).shift < 0.05, path
        if path == "translate":
            page.locator(".st-key-player .hl canvas").first.wait_for()
            expect_wide(page)
            # the way on stands below the picture, which is higher than the screen
            way_on = page.locator(".st-key-first-steps").bounding_box()
            assert HIGH - 64 < way_on["y"] < HIGH - way_on["height"] + 1
    expect_choices_inside(page)

    page = phone("positions", text=SENTENCE, pe_view="Encoding")
    page.locator(".js-plotly-plot .xtitle").first.wait_for()
    assert not page.locator(".modebar-container").first.is_visible()
    drawn = page.locator(".st-key-pe_view button").evaluate_all(CHOICES)
    assert len({top for top, *_ in drawn}) > 1
    assert all(seen for *_, seen in drawn), drawn
    for (top, _, right, _), (next_top, left, _, _) in pairwise(drawn):
        assert next_top > top or left >= right  # none lies over its neighbour
    assert max(right for _, _, right, _ in drawn) <= WIDE
    for view in ("Rotation", "Remove positions"):
        page.get_by_role("radio", name=view, exact=True).tap()
        until(page, lambda: url(page).get("pe_view", "Remove positions"), view)
        page.locator(AT_REST).wait_for()
        page.locator(".js-plotly-plot, [data-testid=stVegaLiteChart] svg").first.wait_for()
        # a chart is fitted to the width a moment after it has come
        until(page, lambda: page.evaluate(f"{MAIN}.scrollWidth") <= WIDE, True)


def test_each_card_leaves_room_for_what_it_lights(desk, bundled_address, monkeypatch):
    monkeypatch.setattr(lesson_layout, "SETTLED", 0.3)
    # all cards of all lessons at four sizes: python -m benchmarks lessons
    lesson, sizes = read_lesson(BUNDLED_LESSONS / "tour.de.md"), [(1280, 720), (390, 844)]
    lesson = replace(lesson, cards=lesson.cards[:2])
    open_ = lambda view: enter(desk, f"{bundled_address}/{view}")  # noqa: E731
    assert list(lesson_layout.measure(desk, open_, lesson, sizes)) == []


@pytest.mark.usefixtures("axe")
def test_no_saved_page_has_a_serious_fault(browser, tmp_path):
    page = browser.new_page()
    path = tmp_path / "page.html"
    path.write_text(report(planted()), "utf-8")
    page.goto(path.as_uri())
    page.locator("[role=gridcell]").first.wait_for()
    assert [fault for mode in MODES for fault in accessibility.faults(page, mode)] == []
    page.close()
