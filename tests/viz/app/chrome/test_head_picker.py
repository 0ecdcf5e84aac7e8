"""Kind, layer and head count from 1 in the URL and from 0 in code; a mean is None."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import in_url


def with_means() -> None:
    import streamlit as st

    from viz.app.chrome import head_picker
    from viz.app.chrome.head_picker import HEAD, UrlNames

    kind = head_picker.pick_kind()
    layer = head_picker.pick_number_or_mean("Layer", HEAD.layer, 3, default=2)
    head = head_picker.pick_number_or_mean("Head", HEAD.head, 4, default=0)
    only = head_picker.pick_layer_and_head(UrlNames("only_layer", "only_head"), 3, 4)
    st.text(f"{kind} {(layer, head)} {only}")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ({}, "cross (2, 0) (2, 0)"),
        ({"kind": "encoder", "layer": "1", "head": "4"}, "encoder_self (0, 3) (2, 0)"),
        ({"kind": "decoder", "layer": "mean", "head": "mean"}, "decoder_self (None, None) (2, 0)"),
        ({"only_layer": "1", "only_head": "4"}, "cross (2, 0) (0, 3)"),
        ({"kind": "x", "layer": "4", "head": "0", "only_layer": "mean"}, "cross (2, 0) (2, 0)"),
    ],
)
def test_the_choice_of_a_link_is_the_choice_of_the_page(url: dict[str, str], expected: str) -> None:
    app = AppTest.from_function(with_means)
    for name, value in url.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    assert [text.value for text in app.text] == [expected]


def one_layer() -> None:
    import streamlit as st

    from viz.app.chrome.head_picker import pick_layer

    layers = st.session_state.get("layers", 3)
    pick_layer("layer", layers, default=layers - 1)


def test_what_stays_chosen_in_another_model_stands_in_the_link() -> None:
    app = AppTest.from_function(one_layer).run()
    for layers, chosen, link in ((6, "3", "3"), (3, "3", None), (2, "2", None), (4, "2", "2")):
        app.session_state["layers"] = layers
        app.run()
        assert (app.selectbox(key="layer").value, in_url(app, "layer")) == (chosen, link)
