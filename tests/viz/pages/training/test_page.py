"""The Training page opens with the heads that form and leads to its curves."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from viz.pages.training import VIEWS


def training_page() -> None:
    from viz.pages import training

    training.show()


def opened(**url: str) -> AppTest:
    app = AppTest.from_function(training_page, default_timeout=60)
    for name, value in url.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def test_opens_with_the_heads_that_form() -> None:
    app = opened()
    assert list(VIEWS) == ["Heads forming", "Curves"]
    assert [box.key for box in app.selectbox][:2] == ["forming_run", "sentence"]


@pytest.mark.parametrize("view", VIEWS)
def test_a_link_that_names_a_view_opens_it(view: str) -> None:
    app = opened(training_view=view)
    if view == "Heads forming":
        assert app.select_slider(key="trained").value == 1
        return
    assert [box.key for box in app.multiselect] == ["runs"]
    assert app.subheader[0].value == "Loss"
