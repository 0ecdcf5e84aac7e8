"""Random walks over the app end in no error box, no exception and no error on the console."""

import time
from typing import TYPE_CHECKING

import pytest

from benchmarks.walk import walks

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

SECONDS = 8.0  # length of the random walks of a seed


def test_random_walks_on_a_phone_end_in_no_error(browser, logged_app):
    end = time.monotonic() + SECONDS

    def new_page() -> "Page":
        page: Page = browser.new_page(viewport={"width": 390, "height": 844})
        return page

    address, log = logged_app
    taken = list(walks(new_page, address, log, 2, end))
    assert [str(walk) for walk in taken if walk.faults] == []
    assert sum(len(walk.steps) for walk in taken) > 1
