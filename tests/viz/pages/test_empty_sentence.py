"""Every view that needs a translation says so where there is none, and the others are drawn."""

import pytest

from tests.viz.app_test import texts
from viz.pages import additive, architecture, figure2, roles

DRAWN = {"parameters"}
"""Views that need none."""


@pytest.mark.parametrize(
    ("page", "url", "view"),
    [
        *(("architecture", "arch_view", view) for view in architecture.VIEWS),
        *(("figure2", "figure2_view", view) for view in figure2.VIEWS),
        *(("additive", "additive_view", view) for view in additive.VIEWS),
        *(("roles", "roles_view", view) for view in roles.VIEWS),
        ("inside", "at", "0"),
        ("hooks", "hook", "q"),
    ],
)
def test_a_view_without_a_translation_says_so(serve, page: str, url: str, view: str) -> None:
    app = serve(page, text=" ", **{url: view})
    message = "Without a translation there is nothing to draw."
    assert (message in texts(app)) == (view not in DRAWN)
    pictures = sum(len(app.get(kind)) for kind in ("vega_lite_chart", "bidi_component"))
    assert view in DRAWN or not pictures
