"""Hostile values in the address: each page is drawn, and says what it does not take."""

from collections.abc import Mapping
from functools import cache

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.fuzz.bounds import SECONDS, examples, no_errors_logged
from tests.fuzz.views import VIEWS
from transformer.files.installed import FILES

pytestmark = pytest.mark.slow

UNBOUND = {"inside": ["at"]}
"""Parameters that belong to no widget."""

VALUES: list[str | list[str]] = [
    *"Infinity -Infinity inf NaN -nan 1e999 -1e999 1e308 1e15 5e-324 0 -0 -1 1.5 2 99 1_0".split(),
    *"0x10 ٣ ½ +1 1,5 ٫ 2147483648 -2147483649 9007199254740993 9223372036854775808".split(),
    *"2000-01-01 12:30 2000-01-01T00:00 true False null None mean encoder [] {} __proto__".split(),
    *"~nosuchuser ~ ~/.. ../../../etc/passwd /proc/1/root /dev/zero runs/.. C:\\x % %s {0}".split(),
    *"file:///etc/passwd <script>alert(1)</script> a&b=c # ** 512·4000 9999999·9999999".split(),
    *("**b** $x$ :smile: [a](b)", "L1 H1", "512 · 4000", "0 · 0", " 1 ", "\x00", "1\x00", "", " "),
    *("\t\n", "\ufffd", "\u202e1", "\u200b", "é" * 50, "😀" * 40, "x" * 300, "x" * 9000),
    *("9" * 400, "9" * 5000, "0." + "0" * 400 + "1", ["1", "2"], ["", "Infinity"], ["nan", "1"]),
    *(["x"] * 50, ["1"] * 100, ["", ""], ["512·4"] * 9),
]


def opened(page: str, query: Mapping[str, str | list[str]]) -> AppTest:
    app = AppTest.from_file(str(FILES / "app.py"), default_timeout=SECONDS)
    # Streamlit's tests walk to files; ours are pages by their path
    app._page_hash = calc_hash("" if page == "translate" else page)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


@cache
def _parameters(page: str, view: int) -> list[str]:
    """The names that the widgets of a view read from the address."""
    query = VIEWS[page][view]
    bound = [getattr(node.proto, "query_param_key", "") for node in opened(page, query).main]
    names = dict.fromkeys([*filter(None, bound), *UNBOUND.get(page, [])])
    return [name for name in names if name not in query]


@examples(2, 1_600)
@given(
    place=st.sampled_from([(page, n) for page, views in VIEWS.items() for n in range(len(views))]),
    data=st.data(),
)
def test_every_page_is_drawn_without_an_error_box(place, data):
    page, view = place
    names = st.sampled_from(_parameters(page, view))
    query = data.draw(st.dictionaries(names, st.sampled_from(VALUES), min_size=1, max_size=3))
    with no_errors_logged():
        app = opened(page, {**VIEWS[page][view], **query})
    assert [box.message for box in app.exception] == []
    for name in query:
        event("accepted" if name in app.query_params else "refused")
