"""Every view that needs a translation says so where there is none, and the others are drawn."""

import pytest

from tests.viz.app_test import texts
from viz.pages import roles


@pytest.mark.parametrize(
    ("page", "url", "view"),
    [
        *(("roles", "roles_view", view) for view in roles.VIEWS),
    ],
)
def test_a_view_without_a_translation_says_so(serve, page: str, url: str, view: str) -> None:
    app = serve(page, text=" ", **{url: view})
    assert "Without a translation there is nothing to draw." in texts(app)
    assert not any(app.get(kind) for kind in ("vega_lite_chart", "bidi_component"))
