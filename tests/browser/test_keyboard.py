"""The app by keyboard: where the focus goes, what it reaches, how it is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.app_page import SENTENCE, german, until, url
from transformer import Translator
from viz.app.sentence.source_box import EXAMPLES

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

# what has the focus, in a component too: its name
FOCUSED = """() => {
    let node = document.activeElement;
    while (node.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
    return node === document.body ? "" : node.ariaLabel || node.labels?.[0]?.innerText
        || node.innerText;
}"""
# its ring: style, width, and the contrast with the page
RING = """() => {
    const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
    const style = getComputedStyle(document.activeElement);
    const ground = numbers(getComputedStyle(document.querySelector(".stApp")).backgroundColor);
    const [r, g, b, alpha = 1] = numbers(style.outlineColor);
    const ink = [r, g, b].map((part, n) => alpha * part + (1 - alpha) * ground[n]);
    const light = (color) => color.slice(0, 3).map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, n) => sum + part * [0.2126, 0.7152, 0.0722][n], 0);
    const [dark, bright] = [light(ink), light(ground)].sort((a, b) => a - b);
    return [style.outlineStyle, style.outlineWidth, (bright + 0.05) / (dark + 0.05)];
}"""


def at_rest(page: Page) -> None:
    """No run of the script is under way or about to begin."""
    for _ in range(2):
        page.wait_for_timeout(150)
        page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


def focused(page: Page) -> str:
    name: str = page.evaluate(FOCUSED)
    return name


def test_after_an_example_one_goes_on_in_the_sentence(visit, translator: Translator) -> None:
    page = visit("heads", text=SENTENCE)
    examples = page.get_by_role("button", name="Examples")
    for number, keyboard in ((1, True), (2, False)):
        examples.wait_for()
        if keyboard:
            examples.press("Enter")
            page.get_by_role("menuitem", name=EXAMPLES[number]).press("Enter")
        else:
            examples.click()
            page.get_by_role("menuitem", name=EXAMPLES[number]).click()
        until(page, lambda: german(page).inner_text(), translated(translator, number))
        until(page, page.get_by_label("English").input_value, EXAMPLES[number])
        until(page, lambda: url(page), {"text": EXAMPLES[number]})
        at_rest(page)
        assert page.get_by_label("English").evaluate("box => box === document.activeElement")


def translated(translator: Translator, number: int) -> str:
    return translator.translate(EXAMPLES[number]).text


def test_tab_enters_a_popover_and_leaves_it(visit) -> None:
    page = visit("heads", text=SENTENCE)
    more = page.get_by_role("button", name="More", exact=True)
    more.press("Enter")
    popover = page.locator("[data-testid=stPopoverBody]")
    popover.get_by_text("Hide weights below").first.wait_for()
    inside = "node => node.contains(document.activeElement)"
    page.keyboard.press("Tab")
    assert popover.evaluate(inside)
    page.keyboard.press("Shift+Tab")
    assert more.evaluate(inside)
    reached = 0
    page.keyboard.press("Tab")
    while popover.count() and popover.evaluate(inside) and reached < 20:
        reached += 1
        page.keyboard.press("Tab")
    assert 4 < reached < 20
    assert page.get_by_role("button", name="Download").evaluate(inside)
    popover.wait_for(state="hidden")
    assert page.get_by_role("button", name="Download").evaluate(inside)


def test_the_focus_is_seen(visit) -> None:
    page = visit("schedule", text=SENTENCE)
    shown = "getComputedStyle(document.querySelector('.stApp')).colorScheme"
    controls = (("link", "Heads"), ("button", "Examples"), ("radio", "linear"))
    try:
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            until(page, lambda: page.evaluate(shown), theme)
            for role, name in controls:
                page.get_by_role(role, name=name, exact=True).first.focus()
                page.keyboard.press("Shift+Tab")
                page.keyboard.press("Tab")  # a key was the last that moved it
                style, width, contrast = page.evaluate(RING)
                assert (style, width) == ("solid", "2px"), (theme, role, name)
                assert contrast >= 3, (theme, role, name)
    finally:
        page.emulate_media(color_scheme="light")


def test_the_focus_outlives_what_a_control_does(visit) -> None:
    page = visit("heads", text=SENTENCE, kind="cross", layer="2", head="1")
    page.locator(".st-key-heads-map .hl canvas").first.wait_for()

    def stays(name: str) -> None:
        at_rest(page)
        assert focused(page) == name

    page.get_by_role("radio", name="decoder").focus()
    page.keyboard.press("Space")
    at_rest(page)
    assert page.get_by_role("radio", name="decoder").evaluate("e => e === document.activeElement")
    page.get_by_role("combobox", name="Layer", exact=True).press("ArrowUp")
    page.keyboard.press("Enter")
    stays("Layer")
    page.get_by_role("switch", name="Words").press("Space")
    stays("Words")
    page.get_by_role("gridcell", name="decoder, layer 1, head 2").press("Enter")
    stays("decoder, layer 1, head 2")


def test_the_walk_keeps_the_focus_at_its_ends(visit) -> None:
    page = visit("inside", text=SENTENCE, at="8")
    page.get_by_role("button", name="Next", exact=True).press("Enter")
    at_rest(page)
    assert focused(page) == "Next"
