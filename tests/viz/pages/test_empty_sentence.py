"""Every view that needs a translation says so where there is none, and the others are drawn."""

import pytest

from tests.viz.app_test import texts
from viz.pages import additive


@pytest.mark.parametrize(
    ("page", "url", "view"),
    [
        *(("additive", "additive_view", view) for view in additive.VIEWS),
        ("inside", "at", "0"),
        ("hooks", "hook", "q"),
    ],
)
def test_a_view_without_a_translation_says_so(serve, page: str, url: str, view: str) -> None:
    app = serve(page, text=" ", **{url: view})
    assert "Without a translation there is nothing to draw." in texts(app)
    assert not any(app.get(kind) for kind in ("vega_lite_chart", "bidi_component"))
