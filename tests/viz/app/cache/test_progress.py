"""The bar of long work goes with the work, however that ends."""

import pytest
from streamlit.testing.v1 import AppTest

from viz.app.cache import cached_results


def work() -> None:
    import streamlit as st

    from transformer import InputError
    from viz.app.cache.cached_results import progress_bar

    seen = st.session_state
    try:
        with progress_bar("Working") as report:
            report(1, 2, *seen["now"])
            if seen["end"] == "in an error":
                raise InputError("It cannot be done.")
            if seen["end"] == "in the middle":
                st.stop()
    except InputError as error:
        st.text(str(error))


@pytest.mark.parametrize(
    ("end", "bars", "sentences"),
    [("well", 0, []), ("in an error", 0, ["It cannot be done."]), ("in the middle", 1, [])],
)
def test_the_bar_goes_with_the_work(monkeypatch, end, bars, sentences) -> None:
    monkeypatch.setattr(cached_results, "PATIENCE", -1.0)
    app = AppTest.from_function(work)
    for now in ((), ("the second part",)):
        app.session_state["end"], app.session_state["now"] = end, now
        app.run()
        assert not app.exception
        assert len(app.get("progress")) == bars
        for bar in app.get("progress"):
            assert bar.proto.text == ": ".join(["Working", *now])
    assert [text.value for text in app.text] == sentences
