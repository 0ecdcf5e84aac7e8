"""The app in a browser: how its pages are entered and read."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from tests.browser.spy import map_on, plain
from transformer import KINDS, AttentionTrace
from transformer.trace import Labels
from viz.draw.labels import PAGE_TITLES, SCREEN_NAMES, SECTIONS, display_tokens
from viz.draw.trace_message import WINDOW

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE = 45_000  # ms; a training run may hold both cores
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
expect.set_options(timeout=PATIENCE)
SENTENCE = "The old cat sleeps under the table."


# as Forward does to an entry of the history; the page's own `pushState` waits for an action
ENTER = """(address) => {
    History.prototype.pushState.call(history, null, "", address);
    dispatchEvent(new PopStateEvent("popstate"));
}"""
THEME = "getComputedStyle(document.querySelector('.stApp')).colorScheme"
AT_REST = "[data-testid=stApp][data-test-script-state=notRunning]"
UNDRAWN = ":is([data-testid=stVegaLiteChart], [data-testid=stPlotlyChart]):not([data-drawn])"
# a run for this address has come to its end
ARRIVED = """(address) => {
    const named = document.querySelector("[data-address]")?.dataset.address;
    const app = document.querySelector("[data-testid=stApp]");
    if (!named || app.dataset.testScriptState !== "notRunning") return false;
    const [shown, wanted] = [named, address].map((url) => new URL(url, location.origin));
    return shown.pathname === wanted.pathname
        && `${shown.searchParams}` === `${wanted.searchParams}`;
}"""


def enter(page: Page, address: str) -> None:
    """Bring the app to one of its addresses, and load its scripts only where they are not there.

    Nothing of the page before is left: where it is the same one, the app has no sentence on the
    way, and so no picture.
    """
    path = address.partition("?")[0]
    server = path.rpartition("/")[0]
    if not page.url.startswith(f"{server}/"):
        page.goto(address)
        return
    page.locator(AT_REST).wait_for()  # before its first run the app hears nothing
    steps = [address]
    if page.url.partition("?")[0] == path:
        steps.insert(0, f"{server}/heads?text=+")
    for step in steps:
        page.evaluate(ENTER, step)
        until(page, partial(page.evaluate, ARRIVED, step), True)


def german(page: Page):
    return page.locator(".st-key-translation")


def open_page(page: Page, title: str) -> None:
    """Open a page from the navigation, by the menu that lists it."""
    (section,) = (
        name for name, paths in SECTIONS.items() if title in [PAGE_TITLES[path] for path in paths]
    )
    if not section:
        page.get_by_role("link", name=title, exact=True).click()
        return
    page.get_by_test_id("stTopNavSection").filter(has_text=section).click()
    page.get_by_role("menuitem", name=title, exact=True).click()


def choose(page: Page, menu: str, option: str) -> None:
    """Choose an option of a menu."""
    page.get_by_role("combobox", name=menu, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def at_rest(page: Page) -> None:
    """Wait until no run of the script is under way or about to begin, and all charts are drawn."""
    for _ in range(2):
        page.wait_for_timeout(150)
        page.locator(AT_REST).wait_for()
        expect(page.locator(UNDRAWN)).to_have_count(0)  # what stands below is hidden until then


def until(page: Page, read: Callable[[], Any], wanted: Any) -> None:
    """Wait for a reading that Playwright has no expectation for.

    Playwright's `wait_for_function` evaluates a text in the page, which its policy forbids. The
    reading is asked for after 10 ms, and then after half of the time that has passed, up to
    150 ms: what comes soon is seen soon, and what comes late is not asked for much more often.
    """
    began = time.monotonic()
    while (reading := read()) != wanted and (waited := time.monotonic() - began) < PATIENCE / 1000:
        page.wait_for_timeout(min(max(10, 500 * waited), 150))
    assert reading == wanted, f"{reading!r} after {PATIENCE / 1000:.0f} s, not {wanted!r}"


def expect_german(page: Page, text: str) -> None:
    """The translation comes to be this text; Playwright would ask for it once a second."""
    until(page, lambda: " ".join((german(page).text_content() or "").split()), text)


def painted(page: Page, key: str) -> dict[str, Any] | None:
    """Read the canvas of a map: see `map_on`."""
    return map_on(page.locator(f".st-key-{key} .hl-scroll canvas"))


def expect_grid(page: Page, trace: AttentionTrace, key: str = "grid") -> None:
    """Each head of the grid comes to name its largest weight and the tokens of it."""
    wanted = {}
    for kind in KINDS:
        queries, keys = map(display_tokens, trace.labels(kind))
        for layer, head in np.ndindex(trace.weights(kind).shape[:2]):
            weights = trace.weights(kind)[layer, head]
            query, token = np.unravel_index(weights.argmax(), weights.shape)
            name = f"{SCREEN_NAMES[kind]}, layer {layer + 1}, head {head + 1}"
            amount = f"{weights.max():.2f}"
            wanted[name] = f"from “{queries[query]}” to “{keys[token]}”, {amount}"

    def named() -> dict[str, str]:
        cells = page.locator(f".st-key-{key} [role=gridcell]").evaluate_all(
            "all => all.map((cell) => [cell.ariaLabel, cell.getAttribute('aria-description')])"
        )
        return {name: plain(text)[-len(wanted.get(name, "")) :] for name, text in cells}

    until(page, named, wanted)


def outlined(page: Page, key: str = "grid") -> list[str]:
    """The names of the heads that the grid outlines: one, or none where it is not shown."""
    cells = page.locator(f".st-key-{key} [role=gridcell][aria-selected=true]")
    return [name or "" for name in cells.evaluate_all("all => all.map((e) => e.ariaLabel)")]


def expect_map(page: Page, key: str, weights: np.ndarray, labels: Labels) -> None:
    """The map comes to show these weights under these labels."""

    def read() -> tuple[list[str], list[str], bool]:
        drawn = painted(page, key)
        if drawn is None:
            return [], [], False
        there = drawn["levels"]
        least = 128 if drawn["table"][0] == "difference" else 0
        near = (
            there.shape == weights.shape  # two neighbours in the table can have one colour
            and np.abs(there - least - (255 - least) * weights).max() < 2
        )
        return drawn["queries"], drawn["keys"], bool(near)

    until(page, read, (display_tokens(labels.queries), display_tokens(labels.keys), True))


def expect_player(page: Page, trace: AttentionTrace) -> None:
    """The page of the translation comes to show the subwords of this one in its player."""
    written = page.locator(".st-key-player .hl-unseen td:nth-child(2)")
    until(page, written.all_text_contents, display_tokens(trace.target_tokens)[:WINDOW])


def expect_url(page: Page, **wanted: str) -> None:
    """The address comes to say this; what stands for the default is not in it."""
    until(page, lambda: {name: url(page).get(name, "") for name in wanted}, wanted)


def url(page: Page) -> dict[str, str]:
    query = parse_qs(urlsplit(page.evaluate("location.href")).query, keep_blank_values=True)
    return {name: values[-1] for name, values in query.items()}


def no_traceback(page: Page) -> None:
    assert page.locator("[data-testid=stException]").count() == 0
    assert "Traceback" not in page.locator("body").inner_text()
