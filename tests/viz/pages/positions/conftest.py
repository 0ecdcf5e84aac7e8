"""A view of the Positions page at a URL, and its picture as the browser gets it."""

import pytest
from streamlit.testing.v1 import AppTest

SENTENCE = "The old cat sleeps under the table."


@pytest.fixture
def opened(opened):
    return lambda view, **url: opened(pe_view=view, **{"text": SENTENCE} | url)


def picture(app: AppTest) -> str:
    (chart,) = app.get("plotly_chart")
    return chart.proto.spec
