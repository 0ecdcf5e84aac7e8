"""The positions page at a URL."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages.positions.reading import SENTENCE


@pytest.fixture
def opened(serve):
    """The page at a URL."""

    def open_(view: str, **url: str) -> AppTest:
        app = serve("positions", pe_view=view, text=SENTENCE, **url)
        assert not app.exception
        return app

    return open_
