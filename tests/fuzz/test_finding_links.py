"""The links of every finding, on any sentence: each opens its page, fresh and on the open one."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.fuzz import bounds, test_addresses
from tests.fuzz.views import VIEWS
from viz.app.sentence import worth_seeing

pytestmark = pytest.mark.slow

WORDS = "Two dogs run . Snow 雪 😀 a a a horse, 1,000 € — (x) Über <b> &amp; \u200b".split(" ")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)


@pytest.fixture
def links(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Mapping[str, str]]]:
    """The page and the choices of each link that a run draws."""
    drawn: list[tuple[str, Mapping[str, str]]] = []
    link = worth_seeing.link

    def noted(page: str, row: Any, results: Any) -> None:
        drawn.extend((finding.page, finding.choices) for finding in results)
        link(page, row, results)

    monkeypatch.setattr(worth_seeing, "link", noted)
    return drawn


@bounds.examples(1, 300)
@given(
    place=st.sampled_from([(page, view) for page, views in VIEWS.items() for view in views]),
    text=TEXTS,
)
def test_every_link_of_a_finding_opens_its_page(links, place, text):
    page, view = place
    links.clear()
    with bounds.no_errors_logged():
        app = test_addresses.opened(page, {"text": text, **view})
        assert [box.message for box in app.exception] == []
        for target, choices in [*links]:
            query = {"text": text, **choices}
            assert [box.message for box in test_addresses.opened(target, query).exception] == []
            if target == page:
                app.query_params = query
                assert [box.message for box in app.run().exception] == []
            event("accepted")
        if not links:
            event("refused")
