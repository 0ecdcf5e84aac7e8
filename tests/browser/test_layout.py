"""What a projector of 1280 × 720 shows of each page before anybody scrolls.

It is the picture, whole; of the two pictures that are longer than the screen, their beginning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from tests.browser.app_page import PATIENCE, enter
from viz.app.links.navigation import TITLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser

TEXT = "Two black dogs are running through the deep white snow today."  # 12 tokens
BAR, CONTROLS = 100, 48  # most pixels of height
PICTURES = {
    "translate": (".st-key-translate-editor .hl-frame", ".st-key-translate-tree .hl-frame"),
    "heads": (".st-key-heads-map .hl-frame", ".st-key-grid [role=gridcell][aria-label^=cross]"),
    "roles": (".st-key-measured-map-beside",),
    "masks": (".st-key-mask-grids .hl-mask:first-child",),
    "schedule": ("[data-testid=stVegaLiteChart], .js-plotly-plot",),
    "training": (".st-key-forming-map .hl-frame",),
    "architecture": (".st-key-arch-drawing canvas",),
}
LONG = {
    "inside": ".st-key-inside .hl-scroll canvas",
    "positions": ".st-key-pe_encoding .js-plotly-plot",
}


@pytest.fixture(scope="module")
def projector(browser: Browser, serve_app: Callable[[str], str]) -> Callable[[str], Page]:
    """Open a page of the app, with the bundled model, as a projector shows it."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)

    def open_(path: str) -> Page:
        enter(page, f"{serve_app('')}/{path}?{urlencode({'text': TEXT})}")
        page.locator("[data-test-script-state=notRunning]").wait_for()
        return page

    return open_


def height(locator: Locator) -> float:
    """Of one element, in pixels."""
    box = locator.bounding_box()
    assert box is not None
    return box["height"]


def bottom(locator: Locator) -> float:
    """Where the lowest of some elements ends, in pixels."""
    ends = [box["y"] + box["height"] for one in locator.all() if (box := one.bounding_box())]
    assert ends
    return max(ends)


def expect_low(page: Page) -> None:
    """The sentence and the controls leave the screen to the picture."""
    assert height(page.locator(".st-key-sentence-bar")) <= BAR
    for row in page.locator("[class*='-controls']").all():
        assert height(row) <= CONTROLS


@pytest.mark.parametrize("path", PICTURES)
def test_the_picture_stands_whole_and_in_sight(projector: Callable[[str], Page], path: str) -> None:
    page = projector(path)
    for selector in PICTURES[path]:
        page.locator(selector).first.wait_for(state="attached")
    expect_low(page)
    ends = {selector: bottom(page.locator(selector)) for selector in PICTURES[path]}
    assert max(ends.values()) <= 720, ends


@pytest.mark.parametrize("path", LONG)
def test_two_fifths_of_the_screen_are_left_to_a_long_picture(
    projector: Callable[[str], Page], path: str
) -> None:
    page = projector(path)
    page.locator(LONG[path]).wait_for()
    expect_low(page)
    box = page.locator(LONG[path]).bounding_box()
    assert box is not None
    assert box["y"] <= 0.6 * 720
    assert box["y"] + box["height"] > 720, "it is whole: name it among PICTURES"


def test_no_page_is_left_out() -> None:
    assert PICTURES.keys() | LONG.keys() == TITLES.keys()


def test_the_box_grows_with_the_sentence(projector: Callable[[str], Page]) -> None:
    page = projector("schedule")
    box = page.get_by_label("English")
    one_line = height(box)
    box.fill(f"{TEXT} " * 4)
    assert height(box) > 1.3 * one_line
    assert box.evaluate("box => box.scrollHeight <= box.clientHeight + 1")
    box.fill(TEXT)
    assert height(box) == one_line
