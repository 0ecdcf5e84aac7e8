"""What heads do, in a real browser: a click and a key switch heads, a click paints a square."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.app_page import SENTENCE, until, url

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def removed(page: Page) -> str:
    return url(page).get("removed", "")


def test_heads_are_switched_by_pointer_and_keyboard_and_undone(tab) -> None:
    page = tab("roles", text=SENTENCE, roles_view="Take away")
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


def test_a_click_on_the_map_paints_a_square(tab) -> None:
    chosen = {"removed_how": "painted", "kind": "encoder", "layer": "1", "head": "1"}
    page = tab("roles", text=SENTENCE, roles_view="Take away", **chosen)
    square = page.locator(".st-key-roles-map .hl-scroll")
    square.wait_for()
    for _ in range(2):  # from the row's word to its first square, and on
        square.press("ArrowRight")
    square.press("Enter")
    until(page, lambda: removed(page)[:5] + removed(page)[-4:], "e0.0p_0-1")
