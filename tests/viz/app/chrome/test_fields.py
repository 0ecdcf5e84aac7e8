"""One of several options is chosen: that of the URL, else the first."""

import pytest
from streamlit.testing.v1 import AppTest


def switches() -> None:
    import streamlit as st

    from viz.app.chrome.fields import choose_one, menu

    st.text(choose_one("View", ("curves", "table"), "view_of_test"))
    st.text(menu("Layer", (1, 2), "layer_of_test", format_func="layer {}".format))


def test_a_link_to_the_first_option_opens_it_whatever_was_chosen_before() -> None:
    app = AppTest.from_function(switches)
    app.session_state["view_of_test"], app.session_state["layer_of_test"] = "table", 2
    app.run()
    assert [text.value for text in app.text] == ["table", "2"]
    app.query_params["view_of_test"], app.query_params["layer_of_test"] = "curves", "layer 1"
    app.run()
    assert not app.exception
    assert [text.value for text in app.text] == ["curves", "1"]
    app.query_params["view_of_test"] = "x"
    assert app.run().text[0].value == "curves"


def number() -> None:
    import streamlit as st

    from viz.app.chrome.fields import clamp_state, whole_number

    clamp_state("number_of_test", 3, 2)
    st.text(str(whole_number("Number", "number_of_test", 1, 3, 2)))


@pytest.mark.parametrize(("linked", "drawn"), [("3", "3"), ("99", "3"), ("-7", "1"), ("x", "2")])
def test_a_number_of_a_link_that_is_out_of_range_becomes_the_nearest(linked, drawn) -> None:
    app = AppTest.from_function(number)
    app.query_params["number_of_test"] = linked
    for _ in range(2):
        app.run()
        assert not app.exception
        assert [text.value for text in app.text] == [drawn]


def file() -> None:
    import streamlit as st

    from transformer import InputError
    from viz.app.chrome.fields import file_field, release_file

    try:
        given = file_field("Sentences", "file_of_test", ["txt"], 4)
    except InputError as error:
        st.text(str(error))
    else:
        st.text("none" if given is None else f"{given[0]}: {given[1]!r}")
    if st.button("Release", key="release"):
        release_file("file_of_test")
    uploaded = st.session_state["file_of_test"]
    st.text("held" if uploaded and uploaded.getvalue() else "free")


def test_a_file_is_there_until_it_is_released_or_replaced() -> None:
    app = AppTest.from_function(file).run()

    def drawn() -> list[str]:
        assert not app.exception
        return [text.value for text in app.text]

    assert drawn() == ["none", "free"]
    app.file_uploader[0].set_value(("a.txt", b"a\nbc", "text/plain")).run()
    assert drawn() == ["a.txt: b'a\\nbc'", "held"]
    app.button(key="release").click().run()
    assert drawn() == ["a.txt: b'a\\nbc'", "free"]
    app.run()
    assert drawn() == ["none", "free"]
    app.file_uploader[0].set_value(("b.txt", b"a\nbcd", "text/plain")).run()
    assert drawn() == ["The file has 5 bytes, and at most 4 are read: shorten it.", "free"]
