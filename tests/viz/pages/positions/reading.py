"""Readers of the Positions page, as the browser gets it."""

from streamlit.testing.v1 import AppTest

from transformer.paper.positions import Stack

SENTENCE = "The old cat sleeps under the table."
BOTH: tuple[Stack, Stack] = ("encoder", "decoder")


def picture(app: AppTest) -> str:
    (chart,) = app.get("plotly_chart")
    return chart.proto.spec
