"""What the tests of the app in a browser share: a tab, and how to read what is on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest

from transformer import Translator
from transformer.trace import Labels
from viz.app.serving import CHECKPOINT_VARIABLE
from viz.draw.labels import shown

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

APP = Path(__file__).parents[2] / "app.py"
PATIENCE = 45_000  # ms; a training run may hold both cores
SENTENCE = "The old cat sleeps under the table."


@pytest.fixture(scope="module")
def translator(trained_folder: Path) -> Translator:
    return Translator.load(trained_folder)


@pytest.fixture(scope="module")
def address(serve_streamlit, trained_folder: Path) -> str:
    return serve_streamlit(APP, env={CHECKPOINT_VARIABLE: str(trained_folder)})


@pytest.fixture(scope="module")
def shared(browser: Browser) -> Iterator[Page]:
    """One tab for all tests that do not need a fresh one: a page load is the dear part."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE)
    yield page
    page.close()


@pytest.fixture
def tab(shared: Page, address: str):
    """Open a page of the app at a URL."""

    def open_(path: str = "", **url: str) -> Page:
        shared.goto(f"{address}/{path}?{urlencode(url)}")
        return shared

    return open_


def german(page: Page):
    return page.locator(".st-key-translation")


def said(page: Page):
    return page.locator(".st-key-german")


def until(page: Page, read: Callable[[], Any], wanted: Any) -> None:
    """Wait for a reading that Playwright has no expectation for."""
    end = time.monotonic() + PATIENCE / 1000
    while (found := read()) != wanted and time.monotonic() < end:
        page.wait_for_timeout(50)
    assert found == wanted


def drawn(page: Page, key: str) -> dict[str, Any]:
    """What a map has on the screen now."""
    return page.locator(f".st-key-{key} .hl").evaluate(
        "e => ({...e.__headlight, weights: Array.from(e.__headlight?.weights ?? [])})"
    )


def in_grid(page: Page, key: str = "grid") -> tuple[dict[str, list[int]], list[Any]]:
    """The weights of each kind in the grid, one byte each, and the head that is outlined."""
    found = page.locator(f".st-key-{key} .hl").evaluate(
        "e => [e.__headlight.parts.map(p => [p.kind, [...p.weights]]), e.__headlight.selected]"
    )
    return dict(found[0]), found[1]


def expect_map(page: Page, key: str, weights: np.ndarray, labels: Labels) -> None:
    """The map comes to show these weights under these labels."""

    def read() -> tuple[list[str], list[str], bool]:
        found = drawn(page, key)
        there = np.array(found["weights"], np.float32)
        same = there.size == weights.size and np.allclose(there, weights.ravel(), atol=1e-5)
        return found.get("queries", []), found.get("keys", []), bool(same)

    until(page, read, (shown(labels.queries), shown(labels.keys), True))


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
