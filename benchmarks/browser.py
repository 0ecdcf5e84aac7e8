"""A headless Chromium, for measuring what a person waits for."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from tests.kit import QUIET
from transformer import HeadlightError


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
