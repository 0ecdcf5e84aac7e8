"""The tour in the address: a stop is one of five, on its own page."""

from __future__ import annotations

import pytest

from tests.viz.app_test import in_url, texts
from viz.app.sentence.tour import main_finding
from viz.findings.finding import Finding

SENTENCE = "The dog sleeps in the garden."


@pytest.mark.parametrize("tour", ["1", "0", "2", "6", "01", "1.0", "\u0661", "x", ""])
def test_only_the_stop_of_the_page_is_one(serve, tour: str) -> None:
    app = serve(text=SENTENCE, tour=tour)
    assert not app.exception
    assert ("Stop 1 of 5" in texts(app)) is (tour == "1")
    # elsewhere the findings stand as ever
    assert ("Look at" in texts(app)) is (tour != "1")


def test_the_tour_ends_where_it_is(serve) -> None:
    app = serve(text=SENTENCE, tour="1", beam="2")
    (following,) = (link for link in app.get("page_link") if "tour=2" in link.proto.query_string)
    assert following.proto.page == "heads"
    app.button(key="tour-end").click().run()
    assert (in_url(app, "tour"), in_url(app, "beam")) == (None, "2")
    assert "Look at" in texts(app)


def test_a_stop_prefers_what_its_own_page_shows() -> None:
    other, own = (Finding(page, (), 0.5, page) for page in ("heads", "translate"))
    assert main_finding("translate", [other, own]) is own
    assert main_finding("translate", [other]) is other
    assert main_finding("translate", []) is None
