"""One action of the reader is one entry of the browser's history; Back and Forward are exact."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.browser.app_page import PATIENCE, until
from viz.app.serving import EXAMPLES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
expect.set_options(timeout=45_000)  # ms; a training run may hold both cores

pytestmark = pytest.mark.browser

FIRST = {"text": "The dog sings.", "kind": "decoder", "layer": "1", "head": "2"}
TYPED = "The cat sleeps."


@pytest.fixture(scope="module")
def opened(
    browser: Browser, address: str, logs: dict[str, Path]
) -> Iterator[tuple[Page, list[str]]]:
    """The app at a link to one head, and the addresses that were asked for and not there."""
    before = len(logs[address].read_text("utf-8"))  # the server is that of all modules
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE)
    missing: list[str] = []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status > 399 else None)
    page.goto(f"{address}/heads?{urlencode(FIRST)}")
    page.locator(".st-key-heads-map .hl canvas").first.wait_for()
    at_rest(page)
    yield page, missing
    page.close()
    said = logs[address].read_text("utf-8")[before:]
    assert "default value" not in said  # of a widget that a click elsewhere set, as it should
    assert "Traceback" not in said


def at_rest(page: Page) -> None:
    """No run of the script is under way or about to begin."""
    for _ in range(2):
        page.wait_for_timeout(200)
        page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


def state(page: Page) -> tuple[str, set[tuple[str, str]], str, list[str]]:
    """What the address says, and what the page shows: title, sentence and all menus."""
    at = urlsplit(page.evaluate("location.href"))
    shown = page.locator("[data-testid=stMain]").evaluate(
        """main => [
            ...[...main.querySelectorAll("input, textarea")].map(e => e.value),
            ...[...main.querySelectorAll("[aria-checked=true]")].map(e => e.innerText),
            ...[...main.querySelectorAll("h1")].map(e => e.textContent),
        ]"""
    )
    return at.path, set(parse_qsl(at.query)), page.title(), shown


def expect_state(page: Page, wanted: tuple[str, set[tuple[str, str]], str, list[str]]) -> None:
    """The page comes to this state; a difference is named part by part."""
    end = time.monotonic() + PATIENCE / 1000
    while (found := state(page)) != wanted and time.monotonic() < end:
        page.wait_for_timeout(50)
    for one, other in zip(found, wanted, strict=True):
        assert one == other


def choose(page: Page, menu: str, option: str) -> None:
    page.get_by_role("combobox", name=menu, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def type_with_pauses(page: Page) -> None:
    page.get_by_label("English").click()
    page.keyboard.press("Control+A")
    for letter in TYPED:
        page.keyboard.type(letter)
        page.wait_for_timeout(350 if letter == " " else 10)  # an answer comes in between


def test_one_action_is_one_entry_and_back_and_forward_are_exact(
    opened: tuple[Page, list[str]],
) -> None:
    page, missing = opened
    assert missing == []
    link = lambda name: page.get_by_role("link", name=name, exact=True).click()  # noqa: E731
    walk: list[tuple[Callable[[], object], dict[str, str]]] = [
        (lambda: page.get_by_role("gridcell", name="encoder, layer 2, head 3").click(), {}),
        (lambda: page.get_by_role("radio", name="cross").click(), {}),
        (lambda: choose(page, "Head", "4"), {"head": "4"}),
        (lambda: type_with_pauses(page), {"text": TYPED}),
        (lambda: link("Inside a head"), {"head": "4"}),
        (lambda: choose(page, "Layer", "1"), {"layer": "1", "head": "4"}),
        (lambda: page.get_by_role("radio", name="decoder").click(), {"kind": "decoder"}),
        (
            lambda: page.get_by_role("link", name="the map of this head").click(),
            {"kind": "decoder", "layer": "1", "head": "4"},
        ),
        (lambda: choose(page, "View", "step by step"), {"view": "step by step"}),
        (lambda: link("Architecture"), {"arch_layer": ""}),
        (lambda: choose(page, "Layer", "2"), {"arch_layer": "2"}),
        (lambda: choose_example(page), {"text": EXAMPLES[1], "arch_layer": "2"}),
    ]
    states = [state(page)]
    assert states[0][1] == set(FIRST.items())
    length = page.evaluate("history.length")
    for number, (act, wanted) in enumerate(walk, start=1):
        act()
        until(page, lambda: state(page)[:2] != states[-1][:2], True)
        at_rest(page)
        assert page.evaluate("history.length") == length + number
        states.append(state(page))
        at = dict(states[-1][1])
        assert {name: at.get(name, "") for name in wanted} == wanted
    assert states[-1][2] == f"Architecture · {EXAMPLES[1]} · Headlight"
    for before in reversed(states[:-1]):
        page.go_back(wait_until="commit")
        expect_state(page, before)
    for after in states[1:]:
        page.go_forward(wait_until="commit")
        expect_state(page, after)
    assert page.evaluate("history.length") == length + len(walk)
    # faster than any answer comes
    page.evaluate("for (let n = 0; n < 3; n++) setTimeout(() => history.back(), 40 * n)")
    expect_state(page, states[-4])
    at_rest(page)
    expect_state(page, states[-4])
    assert page.locator("h1").count() == 1
    assert missing == []


def choose_example(page: Page) -> None:
    page.get_by_role("button", name="Examples").click()
    page.get_by_text(EXAMPLES[1]).click()
