"""Readers of the Positions page, as the browser gets it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from transformer.analysis.paper.positions import Stack

SENTENCE = "The old cat sleeps under the table."
BOTH: tuple[Stack, Stack] = ("encoder", "decoder")


def positions_page() -> None:
    """AppTest cannot walk to a page; this is the way there."""
    from viz.app.sentence import sentence_bar
    from viz.pages import positions

    sentence_bar.show("page")
    positions.show()


def picture(app: AppTest) -> str:
    (chart,) = app.get("plotly_chart")
    return chart.proto.spec


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}
