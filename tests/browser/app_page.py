"""What the tests of the app in a browser share: how to read what is on a page."""

from __future__ import annotations

import base64
import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from PIL import Image

from tests.browser.spy import map_on
from transformer import KINDS, AttentionTrace
from transformer.trace import Labels
from viz.draw.labels import SCREEN_NAMES, display_tokens
from viz.draw.palette import table

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE = 45_000  # ms; a training run may hold both cores
SENTENCE = "The old cat sleeps under the table."


# as Forward does to an entry of the history; the page's own `pushState` waits for an action
ENTER = """(address) => {
    History.prototype.pushState.call(history, null, "", address);
    dispatchEvent(new PopStateEvent("popstate"));
}"""
AT_REST = "[data-testid=stApp][data-test-script-state=notRunning]"
# a run for this address has come to its end
ARRIVED = """(address) => {
    const named = document.querySelector("[data-address]")?.dataset.address;
    const app = document.querySelector("[data-testid=stApp]");
    if (!named || app.dataset.testScriptState !== "notRunning") return false;
    const [shown, wanted] = [named, address].map((one) => new URL(one, location.origin));
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
        page.wait_for_function(ARRIVED, arg=step, polling=10)


def german(page: Page):
    return page.locator(".st-key-translation")


def said(page: Page):
    """The sentences below the translation, wherever they stand."""
    return page.locator(".st-key-notices")


def until(page: Page, read: Callable[[], Any], wanted: Any) -> None:
    """Wait for a reading that Playwright has no expectation for.

    It is asked for after 5 ms, and then after a quarter of the time that has passed, up to 50 ms:
    what comes soon is seen soon, and what comes late is not asked for much more often.
    """
    began = time.monotonic()
    while (found := read()) != wanted and (waited := time.monotonic() - began) < PATIENCE / 1000:
        page.wait_for_timeout(min(max(5, 250 * waited), 50))
    assert found == wanted


def expect_german(page: Page, text: str) -> None:
    """The translation comes to be this text; Playwright would ask for it once a second."""
    until(page, lambda: " ".join((german(page).text_content() or "").split()), text)


def painted(page: Page, key: str) -> dict[str, Any] | None:
    """What stands on the canvas of a map: see `map_on`."""
    return map_on(page.locator(f".st-key-{key} .hl-scroll canvas"))


# the whole grid as a PNG, and the place of each small map by the name of its cell, in pixels
TILES = """(root) => {
    const canvas = root.querySelector("canvas");
    const ratio = canvas.width / parseFloat(canvas.style.width);
    const places = [...root.querySelectorAll("[role=gridcell]")].map((node) =>
        [node.getAttribute("aria-label"), [node.offsetLeft, node.offsetTop, node.offsetWidth,
            node.offsetHeight].map((side) => Math.round(side * ratio))]);
    return [canvas.toDataURL().split(",")[1], Object.fromEntries(places)];
}"""


def expect_grid(page: Page, trace: AttentionTrace, key: str = "grid") -> None:
    """The small maps come to show the weights of these heads, in the colours of their kinds."""

    def same() -> bool:
        png, places = page.locator(f".st-key-{key} .hl").evaluate(TILES)
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA"), int)
        for kind in KINDS:
            for layer, head in np.ndindex(trace.weights(kind).shape[:2]):
                name = f"{SCREEN_NAMES[kind]}, layer {layer + 1}, head {head + 1}"
                left, top, wide, high = places[name]
                seen = pixels[top : top + high, left : left + wide]
                weights = _folded(_folded(trace.weights(kind)[layer, head], 0, high), 1, wide)
                colors = table(kind, "light").astype(int)[np.rint(255 * weights).astype(int)]
                opaque = seen[..., 3] == 255
                far = np.abs(seen[..., :3] - colors).max(-1)
                if far[opaque].max(initial=0) > 4 or (weights[~opaque] > 0).any():
                    return False
                if not opaque.any():
                    return False
        return True

    until(page, same, True)


def _folded(weights: np.ndarray, axis: int, pixels: int) -> np.ndarray:
    """The largest weight that falls on each pixel along an axis."""
    count = weights.shape[axis]
    lines = np.moveaxis(weights, axis, 0)
    spans = [(n * count // pixels, (n + 1) * count // pixels) for n in range(pixels)]
    return np.moveaxis(np.stack([lines[a : max(a + 1, b)].max(0) for a, b in spans]), 0, axis)


def outlined(page: Page, key: str = "grid") -> list[str]:
    """The names of the heads that the grid outlines: one, or none where it is not shown."""
    cells = page.locator(f".st-key-{key} [role=gridcell][aria-selected=true]")
    return [name or "" for name in cells.evaluate_all("all => all.map((e) => e.ariaLabel)")]


def expect_map(page: Page, key: str, weights: np.ndarray, labels: Labels) -> None:
    """The map comes to show these weights under these labels."""

    def read() -> tuple[list[str], list[str], bool]:
        found = painted(page, key)
        if found is None:
            return [], [], False
        there = found["levels"]
        least = 128 if found["table"][0] == "difference" else 0
        near = (
            there.shape == weights.shape  # two neighbours in the table can have one colour
            and np.abs(there - least - (255 - least) * weights).max() < 2
        )
        return found["queries"], found["keys"], bool(near)

    until(page, read, (display_tokens(labels.queries), display_tokens(labels.keys), True))


def url(page: Page) -> dict[str, str]:
    query = parse_qs(urlsplit(page.evaluate("location.href")).query, keep_blank_values=True)
    return {name: values[-1] for name, values in query.items()}


def saved_files(page: Page, key: str, folder: Path) -> dict[str, Path]:
    """What the buttons of a picture save, by format."""
    saved = {}
    for form in ("SVG", "PNG"):
        button = page.locator(f".st-key-{key}").get_by_role("button", name=f"Save as {form}")
        with page.expect_download() as download:
            button.click()
        saved[form] = folder / download.value.suggested_filename
        download.value.save_as(saved[form])
    return saved


def no_traceback(page: Page) -> None:
    assert page.locator("[data-testid=stException]").count() == 0
    assert "Traceback" not in page.locator("body").inner_text()
