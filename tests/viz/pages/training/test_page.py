"""The Training page opens with its curves and leads to the heads that form."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from viz.pages.training.page import VIEWS


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


def test_opens_with_the_curves() -> None:
    app = opened()
    assert [box.key for box in app.multiselect] == ["runs"]
    assert app.subheader[0].value == "Loss"


def test_a_link_opens_the_other_view() -> None:
    app = opened(training_view="Heads forming")
    assert [box.label for box in app.selectbox] == ["Run", "Sentence", "Layer", "Head", "Measure"]
    assert list(VIEWS) == ["Curves", "Heads forming"]
