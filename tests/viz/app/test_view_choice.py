"""One view of a page is drawn: that of the URL, else the first."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from viz.app.view_choice import choose_view

    st.text(choose_view("view_of_test", ("curves", "table")))


@pytest.mark.parametrize(
    ("linked", "drawn"), [(None, "curves"), ("table", "table"), ("x", "curves")]
)
def test_the_view_of_the_url_is_drawn_alone(linked: str | None, drawn: str) -> None:
    app = AppTest.from_function(page)
    if linked is not None:
        app.query_params["view_of_test"] = linked
    app.run()
    assert not app.exception
    assert [text.value for text in app.text] == [drawn]
