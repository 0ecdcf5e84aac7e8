"""A view of the Positions page at a URL."""

import pytest

from tests.viz.pages.positions.reading import SENTENCE


@pytest.fixture
def opened(opened):
    return lambda view, **url: opened(pe_view=view, **{"text": SENTENCE} | url)
