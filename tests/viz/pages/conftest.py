"""The app on a small trained model, for all tests of this folder."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import given_translations, serve, translator, unsure_model
from tests.viz.pages.reading import SENTENCE
from tests.viz.trained_model import trained_folder

__all__ = [  # fixtures: used by name
    "given_translations",
    "serve",
    "trained_folder",
    "translator",
    "unsure_model",
]


@pytest.fixture
def opened(serve, request: pytest.FixtureRequest):
    """Open the page that the folder or the module is named after, at the module's `URL`."""
    folder = request.path.parent.name
    page = request.path.stem.removeprefix("test_") if folder == "pages" else folder
    at_first = getattr(request.module, "URL", {"text": SENTENCE})

    def open_(**url: str) -> AppTest:
        app = serve(page, **at_first | url)
        assert not app.exception
        return app

    return open_
