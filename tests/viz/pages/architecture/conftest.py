"""The architecture page at a URL."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages.architecture.reading import SENTENCE


@pytest.fixture
def opened(serve):
    def open_(**url: str) -> AppTest:
        app = serve("architecture", **{"text": SENTENCE, **url})
        assert not app.exception
        return app

    return open_
