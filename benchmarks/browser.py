"""A headless Chromium, for measuring what a person waits for."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from tests.kit import QUIET
from transformer import HeadlightError

_ALL = """const all = (root) => [...root.querySelectorAll("*")].flatMap((element) =>
    [element, ...(element.shadowRoot ? all(element.shadowRoot) : [])]);"""
# how many pictures and tables of numbers are in sight, those of the components too
PICTURES = f"""() => {{
    {_ALL}
    const drawn = "canvas, svg.marks, svg.main-svg, table";
    return all(document).filter((element) => element.matches(drawn) && element.checkVisibility())
        .length;
}}"""
# the canvases in sight on which nothing is painted
BLANK = f"""() => {{
    {_ALL}
    return all(document).filter((element) => {{
        const seen = element.checkVisibility({{ visibilityProperty: true }});
        if (element.tagName !== "CANVAS" || !seen) return false;
        if (!element.width || !element.height) return false;
        const pen = element.getContext("2d");
        return !pen.getImageData(0, 0, element.width, element.height).data.some(Boolean);
    }}).map((element) => element.closest("[class]")?.className || "a canvas");
}}"""


class NoBrowser(HeadlightError):
    """There is no Chromium to measure in."""


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser; a context manager."""
    from playwright.sync_api import sync_playwright  # an extra of the tests

    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        raise NoBrowser("There is no Chromium on the PATH: install it, then measure again.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        # the app's policy forbids to evaluate text in its pages, which waiting for a condition does
        for name in ("new_page", "new_context"):
            setattr(browser, name, partial(getattr(browser, name), bypass_csp=True))
        yield browser
        browser.close()
