"""Pictures find their script without an install, and messages of a browser are checked."""

from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import in_url
from tests.viz.draw.message import decode
from transformer.trace import Labels
from viz.app.chrome import mounts
from viz.draw.attention_map import pinned_row, squares_of

SCRIPT = """
from tests.viz.app.chrome.test_mounts import LABELS, WEIGHTS
from transformer.text.languages import OURS
from viz.app.chrome.mounts import mount
from viz.draw.attention_map import MapAxes, encode_map

mount("map", encode_map(WEIGHTS, MapAxes("cross", LABELS, OURS), title="L1 H1"))
"""
PINNED = """
import streamlit as st
from tests.viz.app.chrome.test_mounts import LABELS, WEIGHTS
from transformer.trace import Labels
from transformer.text.languages import OURS
from functools import partial
from viz.app.chrome.mounts import mount_map
from viz.draw.attention_map import MapAxes, encode_map

labels = Labels(LABELS.queries, ("▁c", "▁e")) if st.toggle("other", key="other") else LABELS
encode = partial(encode_map, WEIGHTS, MapAxes("cross", labels, OURS), title="L1 H1")
mount_map("map", labels, encode)
"""
LABELS = Labels(("▁a", "▁b"), ("▁c", "▁d"))
WEIGHTS = np.full((2, 2), 0.5, dtype=np.float32)
MAP = {"title": "L1 H1", "queries": ["a", "b"], "keys": ["c", "d"]}  # as the browser names it
NOTHING = object()  # the browser sends nothing


def test_a_picture_is_mounted_by_address_and_its_data_are_bytes():
    for _ in range(2):  # servers: what one has registered is not there in the next
        app = AppTest.from_string(SCRIPT).run()
        assert not app.exception
        assert not app.error
        (mounted,) = app.get("bidi_component")
        assert mounted.proto.js_source_path.startswith("headlight-")
        assert not mounted.proto.js_content
        assert mounted.proto.bytes


@pytest.mark.parametrize(("link", "row"), [("2", 1), ("3", -1), ("0", -1), ("x", -1)])
def test_a_link_pins_a_row_that_the_map_has(link: str, row: int) -> None:
    app = AppTest.from_string(PINNED)
    app.query_params["map-row"] = link
    (mounted,) = app.run().get("bidi_component")
    assert decode(mounted.proto.bytes)[0]["pinned"] == row


def test_the_row_of_another_map_is_forgotten() -> None:
    app = AppTest.from_string(PINNED)
    app.query_params["map-row"] = "2"
    app.run()
    assert in_url(app.run(), "map-row") == "2"
    app.session_state["address.arrived"] = False  # the reader acts, no link
    app.toggle(key="other").set_value(True).run()
    assert in_url(app, "map-row") is None
    (mounted,) = app.get("bidi_component")
    assert decode(mounted.proto.bytes)[0]["pinned"] == -1


@pytest.mark.parametrize(
    ("message", "row"),
    [
        ({**MAP, "pinned": 1}, 1),
        ({**MAP, "pinned": -1}, -1),
        *(({**MAP, "pinned": pinned}, None) for pinned in (2, True)),
        ({**MAP, "keys": ["c"], "pinned": 1}, None),
        *((message, None) for message in ({"pinned": 1}, MAP, NOTHING, [])),
    ],
)
def test_a_pin_is_checked(message: object, row: int | None) -> None:
    assert pinned_row(message, LABELS) == row


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch):
    """Mount a component, then let the browser send something; the mount's own callback hears it."""

    def send(draw: Any, value: object) -> None:
        mounted: dict[str, Any] = {}
        monkeypatch.setattr(mounts, "_pictures", lambda: lambda **options: mounted.update(options))
        draw()
        state = {mounted["key"]: {} if value is NOTHING else {"picked": value}}
        monkeypatch.setattr(st, "session_state", state)
        mounted["on_picked_change"]()

    return send


@pytest.mark.parametrize(
    "value",
    [
        *(NOTHING, "01", [[0, 2]], [[True, 0]], [[0, 0], [1, 0]], [[0, 0]] * 3),
    ],
)
def test_painted_squares_are_of_one_row_of_the_map_or_nothing(sent, value: object) -> None:
    heard: list[list[tuple[int, int]]] = []
    sent(lambda: painted_map(heard), value if value is NOTHING else MAP | {"squares": value})
    for other in ({"title": "L1 H2"}, {"queries": ["a", "x"]}, {"keys": ["c"]}):
        sent(lambda: painted_map(heard), MAP | other | {"squares": [[0, 0]]})
    assert heard == []
    sent(lambda: painted_map(heard), MAP | {"squares": [[1, 0], [1, 1]]})
    assert heard == [[(1, 0), (1, 1)]]


def painted_map(heard: list[list[tuple[int, int]]]) -> None:
    mounts.mount_choice(
        "map", b"", lambda sent: squares_of(sent, "L1 H1", LABELS) or None, heard.append
    )
