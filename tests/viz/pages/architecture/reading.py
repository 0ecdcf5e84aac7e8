"""What the architecture page draws, as the browser gets it."""

from __future__ import annotations

from typing import Any

from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

SENTENCE = "The dog sleeps in the garden."


def architecture_page() -> None:
    """AppTest cannot walk to a page; this is the way there."""
    from viz.app.sentence import sentence_bar
    from viz.pages import architecture

    sentence_bar.show("page")
    architecture.show()


def drawn(app: AppTest, chart: int = 0) -> list[list[dict[Any, Any]]]:
    """The rows of each data set that a chart draws; Streamlit sends them as Arrow."""
    sets = app.get("vega_lite_chart")[chart].proto.datasets
    frames = [convert_arrow_bytes_to_pandas_df(one.data.data) for one in sets]
    return [frame.to_dict("records") for frame in frames]


def tables(app: AppTest) -> list[list[list[str]]]:
    """The cells of the Markdown tables on the page."""
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        for element in app.markdown
        if len(lines := element.value.splitlines()) > 2 and lines[0].startswith("|")
    ]
