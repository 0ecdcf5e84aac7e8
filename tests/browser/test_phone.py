"""The app on a phone: by touch, 390 pixels wide."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from tests.browser.app_page import PATIENCE, SENTENCE, enter, german, until, url
from viz.app.sentence.source_box import EXAMPLES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WIDE, HIGH = 390, 844


@pytest.fixture(scope="module")
def phone(browser: Browser, address: str) -> Callable[..., Page]:
    """Open a page of the app on a phone."""
    page = browser.new_page(viewport={"width": WIDE, "height": HIGH}, has_touch=True)
    page.set_default_timeout(PATIENCE)

    def open_(path: str, **url: str) -> Page:
        enter(page, f"{address}/{path}?{urlencode(url)}")
        at_rest(page)
        return page

    return open_


def at_rest(page: Page) -> None:
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


def span(page: Page, selector: str) -> tuple[float, float]:
    """Where an element begins and ends on the screen, from its top."""
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["y"], box["y"] + box["height"]


def test_the_menu_of_pages_closes_by_itself(phone: Callable[..., Page]) -> None:
    page = phone("heads", text=SENTENCE)
    drawer = page.locator("[data-testid=stSidebar]")
    closed = lambda: drawer.get_attribute("data-collapsed")  # noqa: E731
    page.get_by_role("button", name="Expand sidebar").tap()
    until(page, closed, "false")
    page.reload()
    at_rest(page)
    until(page, closed, "true")
    page.get_by_role("button", name="Expand sidebar").tap()  # again, after a reload with it open
    until(page, closed, "false")
    page.get_by_role("link", name="Masks", exact=True).tap()
    page.get_by_role("heading", name="Masks", level=1).wait_for()
    until(page, closed, "true")
    at_rest(page)
    assert closed() == "true"
    # out of sight, out of the way of the keyboard
    assert page.get_by_role("link", name="Heads", exact=True).count() == 0


def test_a_tap_shows_what_it_opens(phone: Callable[..., Page]) -> None:
    page = phone("heads", text=SENTENCE, kind="cross", layer="1", head="1")
    page.locator(".st-key-heads-map .hl canvas").first.wait_for()
    assert span(page, ".st-key-heads-map")[0] > HIGH
    scrolled = lambda: page.locator("[data-testid=stMain]").evaluate("e => e.scrollTop")  # noqa: E731
    page.get_by_role("gridcell", name="cross, layer 1, head 2").tap()
    until(page, lambda: span(page, ".st-key-heads-map")[1] <= HIGH + 1, True)
    assert span(page, ".st-key-heads-map")[0] >= 0
    before = scrolled()
    at_rest(page)
    page.get_by_role("gridcell", name="cross, layer 2, head 2").dispatch_event("click")
    page.get_by_role("heading", name="L2 H2 · cross").first.wait_for()
    assert scrolled() == before  # it is in sight


def test_the_examples_fit(phone: Callable[..., Page]) -> None:
    page = phone("schedule", text=SENTENCE)
    page.get_by_role("button", name="Examples").tap()
    for example in EXAMPLES:
        box = page.get_by_role("menuitem", name=example).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= WIDE
    page.get_by_role("menuitem", name=EXAMPLES[-1]).tap()
    until(page, lambda: page.get_by_label("English").input_value(), EXAMPLES[-1])
    german(page).wait_for()
    # the keyboard of the phone stays away
    assert page.evaluate("document.activeElement.tagName") not in ("INPUT", "TEXTAREA")


def test_choices_in_two_lines_have_all_their_borders(phone: Callable[..., Page]) -> None:
    page = phone("positions", text=SENTENCE)
    page.get_by_role("radio", name="Without", exact=True).wait_for()
    at_rest(page)
    drawn = page.locator(".st-key-pe_view button").evaluate_all(
        """all => all.map(node => {
            const style = getComputedStyle(node);
            const sides = ["Left", "Right", "Top", "Bottom"];
            const seen = sides.every(side => style[`border${side}Width`] === "1px"
                && !/, 0\\)$/.test(style[`border${side}Color`]));
            const { top, left, right } = node.getBoundingClientRect();
            return [top, left, right, seen];
        })"""
    )
    assert len({top for top, *_ in drawn}) > 1
    assert all(seen for *_, seen in drawn), drawn
    for (top, _, right, _), (next_top, left, _, _) in pairwise(drawn):
        assert next_top > top or left >= right  # none lies over its neighbour
    assert max(right for _, _, right, _ in drawn) <= WIDE


def test_no_toolbar_covers_words(phone: Callable[..., Page]) -> None:
    page = phone("architecture", text=SENTENCE, arch_view="tables 2 and 3")
    page.locator("[data-testid=stDataFrame]").first.wait_for()
    covered = page.evaluate(
        """() => {
            const bars = [...document.querySelectorAll("[data-testid=stElementToolbar]")]
                .filter(bar => bar.closest(".stElementContainer").querySelector(".stDataFrame"))
                .map(bar => bar.getBoundingClientRect());
            const words = [...document.querySelectorAll("h3, p, [data-testid=stText]")];
            const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom
                && b.top < a.bottom;
            const texts = words.filter(word => bars.some(bar => bar.width
                && over(bar, word.getBoundingClientRect())));
            return [bars.filter(bar => bar.width).length, texts.map(word => [word.innerText,
                word.getBoundingClientRect().bottom, ...bars.map(bar => bar.top)])];
        }"""
    )
    assert covered[0] > 0
    assert covered[1] == []
    page = phone("positions", text=SENTENCE)
    page.locator(".js-plotly-plot .xtitle").first.wait_for()
    assert not page.locator(".modebar-container").first.is_visible()


def test_sentence_and_picture_fit_without_scrolling_sideways(phone: Callable[..., Page]) -> None:
    for path, key in (("", "translate-map"), ("heads", "heads-map")):
        page = phone(path, text=SENTENCE)
        page.locator(f".st-key-{key} .hl canvas").first.wait_for()
        main = page.locator("[data-testid=stMain]")
        assert main.evaluate("e => e.scrollWidth") <= WIDE
        # a line of its own, which it shares with its label
        width = page.get_by_label("English").evaluate("e => e.getBoundingClientRect().width")
        assert width > 270


@pytest.mark.parametrize("path", ["masks", "architecture"])
def test_no_choice_is_scrolled_out_of_sight(phone: Callable[..., Page], path: str) -> None:
    choices = phone(path, text=SENTENCE).locator(".stButtonGroup button")
    choices.nth(4).wait_for()
    past = choices.evaluate_all("""all => all.map(e => e.getBoundingClientRect().right
        - e.closest('.stButtonGroup').getBoundingClientRect().right)""")
    assert max(past) <= 0.5


def test_no_view_of_the_positions_scrolls_sideways(phone: Callable[..., Page]) -> None:
    page = phone("positions")
    for view in ("Encoding", "Curves", "Rotation", "Your sentence", "Without"):
        page.get_by_role("radio", name=view, exact=True).tap()
        until(page, lambda: url(page).get("pe_view", "Encoding"), view)
        at_rest(page)
        page.locator(".js-plotly-plot, [data-testid=stVegaLiteChart] svg").first.wait_for()
        # a chart is fitted to the width a moment after it has come
        page.wait_for_function(
            f"() => document.querySelector('[data-testid=stMain]').scrollWidth <= {WIDE}"
        )
