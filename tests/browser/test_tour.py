"""The first minute: what Headlight is, and five stops, each with something worth seeing."""

from urllib.parse import urlencode, urlsplit

import pytest

from tests.browser.app_page import (
    PATIENCE,
    SENTENCE,
    at_rest,
    expect,
    expect_german,
    no_traceback,
    until,
    url,
)
from viz.app.sentence.tour import STOPS, TOUR

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

MOST = 40  # pixels that the line over the first page costs
ABOVE = ".st-key-sentence-bar"


def stop(page):
    """Return the path and the number of the stop that the address names."""
    return urlsplit(page.url).path.strip("/") or STOPS[0], url(page).get(TOUR)


def test_the_tour_leads_through_five_findings_and_back(browser, address, translator):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)
    page.goto(f"{address}/?{urlencode({'text': SENTENCE, 'beam': '2'})}")
    own = translator.translate(SENTENCE, beam_size=2)
    expect_german(page, own.text)
    at_rest(page)
    tops = [page.locator(ABOVE).bounding_box()["y"]]
    page.get_by_role("link", name="Look around").click()
    findings = []
    for number, path in enumerate(STOPS, 1):
        until(page, lambda: stop(page), (path, str(number)))
        at_rest(page)
        line = page.locator(".st-key-findings")
        expect(line).to_contain_text(f"Stop {number} of 5")
        findings.append(page.locator(".st-key-tour").inner_text().splitlines()[0])
        # the sentence and how it was searched come along
        assert (url(page)["text"], url(page)["beam"]) == (SENTENCE, "2")
        expect_german(page, own.text)
        following = page.get_by_role("link", name="Next stop")
        if number < len(STOPS):
            following.click()
    assert following.count() == 0
    assert len(set(findings)) == 5
    tops.append(page.locator(ABOVE).bounding_box()["y"])
    page.go_back()
    until(page, lambda: stop(page), (STOPS[3], "4"))
    at_rest(page)
    expect(page.locator(".st-key-tour")).to_contain_text(findings[3])
    # the line over the first page stands on no other
    assert 0 < tops[0] - tops[1] <= MOST
    page.get_by_role("button", name="End the tour").click()
    until(page, lambda: stop(page), (STOPS[3], None))
    expect(page.locator(".st-key-findings-links")).to_contain_text(findings[3])
    assert url(page)["beam"] == "2"
    no_traceback(page)
    page.close()
