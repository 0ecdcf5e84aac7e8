"""Findings of a page: links to what is worth seeing there."""

from functools import partial
from urllib.parse import urlencode

import pytest

from tests.browser.app_page import (
    PATIENCE,
    SENTENCE,
    at_rest,
    enter,
    no_traceback,
    until,
    url,
)
from viz.findings import findings

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

ELSEWHERE = {
    "masks": {"kind": "encoder"},
}
"""By page: a view that none of its findings opens."""


def has(page, choices):
    """Return whether the address has these choices."""
    return choices.items() <= url(page).items()


def test_a_finding_of_the_open_page_changes_the_address_once(browser, address, translator):
    trace = translator.trace(SENTENCE, beam_size=2)
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)
    for path, elsewhere in ELSEWHERE.items():
        choices = findings(path, trace, translator)[0].choices
        addresses = []
        for view in (choices, elsewhere):
            wanted = {"text": SENTENCE, "beam": "2", **view}
            enter(page, f"{address}/{path}?{urlencode(wanted)}")
            at_rest(page)
            addresses.append(url(page))  # a choice that is the default leaves it
        (after, before), named = addresses, {"text": SENTENCE, "beam": "2", **choices}
        assert after != before
        page.locator(".st-key-findings-links a").first.click()
        until(page, partial(has, page, after), True)
        at_rest(page)
        after = url(page)
        # a choice that is the default may stand there, too
        assert addresses[0].items() <= after.items() <= {**named, **addresses[0]}.items()
        page.go_back()
        until(page, partial(url, page), before)
        at_rest(page)
        page.go_forward()
        until(page, partial(url, page), after)
        page.reload()
        at_rest(page)
        assert url(page) == after
    no_traceback(page)
    page.close()
