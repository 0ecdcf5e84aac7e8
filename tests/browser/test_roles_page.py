"""What heads do, in a real browser: a click and a key switch heads, squares are painted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.app_page import SENTENCE, until, url
from tests.browser.app_page import painted as drawn

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def removed(page: Page) -> str:
    return url(page).get("removed", "")


def test_heads_are_switched_by_pointer_and_keyboard_and_undone(visit) -> None:
    page = visit("roles", text=SENTENCE, roles_view="Take away")
    page.get_by_role("gridcell", name="encoder, layer 1, head 2").click()
    off = page.get_by_role("gridcell", name="encoder, layer 1, head 2, switched off")
    off.wait_for()
    until(page, lambda: removed(page), "e0.1")
    off.press("ArrowRight")
    page.get_by_role("gridcell", name="encoder, layer 1, head 3").press("Enter")
    until(page, lambda: removed(page), "e0.1,e0.2")
    page.get_by_text("2 of ").wait_for()
    off.press(" ")
    until(page, lambda: removed(page), "e0.2")
    page.get_by_role("button", name="Undo").click()
    until(page, lambda: removed(page), "e0.1,e0.2")
    off.wait_for()


def test_squares_of_a_row_are_painted_by_keys_and_by_dragging_in_one_step(visit) -> None:
    chosen = {"removed_how": "painted", "kind": "encoder", "layer": "1", "head": "1"}
    page = visit("roles", text=SENTENCE, roles_view="Take away", **chosen)
    squares = page.locator(".st-key-roles-map .hl-scroll")
    squares.wait_for()
    for _ in range(2):  # from the row's word to its first square, and on
        squares.press("ArrowRight")
    squares.press("Enter")
    until(page, lambda: removed(page)[:5] + removed(page)[-4:], "e0.0p_0-1")
    page.get_by_text("1 of ").wait_for()
    squares.scroll_into_view_if_needed()
    first, third = middle_of(page, row=2, key=0), middle_of(page, row=-1, key=2)
    page.mouse.move(*first)
    page.mouse.down()
    page.mouse.move(*third)  # a hand that leaves the map
    assert removed(page).endswith("_0-1")  # nothing is told before it is let go
    page.mouse.up()
    until(page, lambda: removed(page)[-12:], "_0-1_2-0.1.2")
    page.get_by_role("button", name="Undo").click()
    until(page, lambda: removed(page)[-4:], "_0-1")


def middle_of(page: Page, *, row: int, key: int) -> tuple[float, float]:
    """Where a square of the map lies on the screen."""
    found = drawn(page, "roles-map")
    box = page.locator(".st-key-roles-map .hl-scroll canvas").bounding_box()
    assert found is not None
    assert box is not None
    x, y, square = (found["origin"][name] for name in ("x", "y", "square"))
    return box["x"] + x + (key + 0.5) * square, box["y"] + y + (row + 0.5) * square
