"""The first minute: what Headlight is, and five stops, each with something worth seeing."""

from functools import partial
from urllib.parse import urlencode, urlsplit

import pytest

from tests.browser.app_page import (
    PATIENCE,
    SENTENCE,
    at_rest,
    enter,
    expect,
    expect_german,
    no_traceback,
    until,
    url,
)
from viz.app.sentence.tour import STOPS, TOUR
from viz.findings import findings

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

ELSEWHERE = {
    "masks": {"kind": "encoder"},
}
"""By page: a view that none of its findings opens."""


def stop(page):
    """Return the path and the number of the stop that the address names."""
    return urlsplit(page.url).path.strip("/") or STOPS[0], url(page).get(TOUR)


def has(page, choices):
    """Return whether the address has these choices."""
    return choices.items() <= url(page).items()


def test_the_tour_leads_through_five_findings_and_back(browser, address, translator):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)
    first = f"{address}/?{urlencode({'text': SENTENCE, 'beam': '2'})}"
    page.goto(first)
    own = translator.translate(SENTENCE, beam_size=2)
    expect_german(page, own.text)
    at_rest(page)
    page.get_by_role("button", name="Lessons").click()
    page.get_by_role("link", name="Look around").click()
    texts = []
    for number, path in enumerate(STOPS, 1):
        until(page, lambda: stop(page), (path, str(number)))
        at_rest(page)
        line = page.locator(".st-key-findings")
        expect(line).to_contain_text(f"Stop {number} of 5")
        texts.append(page.locator(".st-key-tour").inner_text().splitlines()[0])
        # the sentence and how it was searched come along
        assert (url(page)["text"], url(page)["beam"]) == (SENTENCE, "2")
        expect_german(page, own.text)
        following = page.get_by_role("link", name="Next stop")
        if number < len(STOPS):
            following.click()
    assert following.count() == 0
    assert len(set(texts)) == 5
    page.go_back()
    until(page, lambda: stop(page), (STOPS[3], "4"))
    at_rest(page)
    expect(page.locator(".st-key-tour")).to_contain_text(texts[3])
    page.get_by_role("button", name="End the tour").click()
    until(page, lambda: stop(page), (STOPS[3], None))
    expect(page.locator(".st-key-findings-links")).to_contain_text(texts[3])
    assert url(page)["beam"] == "2"
    no_traceback(page)
    page.close()


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
