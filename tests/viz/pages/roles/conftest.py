"""A view of the page “What heads do” at a URL."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages.roles.test_page import SENTENCE


@pytest.fixture
def opened(serve, request: pytest.FixtureRequest):
    """Open the view that the test module names `ROLES_VIEW`."""

    def open_(**url: Any) -> AppTest:
        view = request.module.ROLES_VIEW
        app = serve("roles", **{"text": SENTENCE, "roles_view": view} | url)
        assert not app.exception
        return app

    return open_
