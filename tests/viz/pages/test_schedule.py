"""The schedule page as Streamlit runs it."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import open_alone, texts


def spec(app: AppTest) -> dict:
    (chart,) = app.get("vega_lite_chart")
    return json.loads(chart.proto.spec)


def peaks(app: AppTest) -> list[str]:
    """Return the rates that the findings name, the last word of each."""
    labels = [link.proto.label.replace("\\", "") for link in app.get("page_link")]
    return [label.split()[-1].rstrip(".") for label in labels]


def test_a_pair_of_ones_own_is_drawn_with_its_peak() -> None:
    app = open_alone("schedule")
    app.multiselect(key="pairs").set_value(["512 · 4000", "768, 2000"]).run()
    assert not app.exception
    assert peaks(app) == ["6.99e-4", "8.07e-4"]
    domain = spec(app)["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert domain == ["d_model 512, warmup 4,000", "d_model 768, warmup 2,000"]


@pytest.mark.parametrize("wrong", ["x", "99999999 · 1"])
def test_a_pair_that_makes_no_sense_gets_one_sentence(wrong: str) -> None:
    app = open_alone("schedule")
    app.multiselect(key="pairs").set_value([wrong]).run()
    *_, text, empty = texts(app)
    assert wrong in text
    assert text.endswith("write 512 · 4000.")
    assert "no curve" in empty
