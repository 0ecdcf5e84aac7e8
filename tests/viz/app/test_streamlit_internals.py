"""Streamlit ends work that it has no more use for, and drops values that are forged."""

import json
import threading
from inspect import unwrap
from typing import Any
from unittest.mock import MagicMock

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime import Runtime
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import WStates
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from viz.app.cache.memory import ByteCache
from viz.app.streamlit_internals import DEEPEST, drop_forged_values, end_if_unwanted

SCRIPT = """
import threading
from tests.viz.app import test_streamlit_internals
test_streamlit_internals.work()
"""
begun, ended = threading.Event(), threading.Event()
cache = ByteCache(1000)


def work() -> None:
    """Until it is ended: long work of its own, then the wait for another run that works on it."""
    try:
        begun.set()
        while not cache.size:
            end_if_unwanted()
        cache.get("shared", lambda: "never")
    finally:
        ended.set()


@pytest.mark.parametrize("waiting", [False, True])
def test_a_run_that_is_asked_to_stop_ends_its_work_at_once(tmp_path, monkeypatch, waiting) -> None:
    end_if_unwanted()  # outside of a page nothing happens
    monkeypatch.setattr(Runtime, "_instance", MagicMock())
    begun.clear()
    ended.clear()
    done = threading.Event()
    if waiting:
        cache.get("something", lambda: 1)
        threading.Thread(target=cache.get, args=("shared", done.wait), daemon=True).start()
    (tmp_path / "script.py").write_text(SCRIPT)
    state = SafeSessionState(SessionState(), lambda: None)
    runner = LocalScriptRunner(
        str(tmp_path / "script.py"), state, PagesManager(str(tmp_path / "script.py"))
    )
    runner.request_rerun(RerunData())
    runner.start()
    assert begun.wait(10)
    assert not ended.wait(0.3)
    runner.request_stop()
    assert ended.wait(2)
    done.set()


def nested(levels: int) -> str:
    return "[" * levels + "7" + "]" * levels


@pytest.mark.parametrize(
    ("kind", "sent", "expected"),
    [
        ("string_value", {"string_value": "bundled"}, "bundled"),
        ("string_value", {"bool_value": True}, "first"),
        ("string_value", {"int_value": 7}, "first"),
        ("string_value", {"json_value": nested(900)}, "first"),
        ("double_value", {"int_value": 20}, 20),  # as the field of a whole number sends it
        ("double_value", {"double_value": 0.5}, 0.5),
        ("double_value", {"string_value": "20"}, "first"),
        ("string_value", {}, None),  # as an emptied field sends it
        (
            "json_trigger_value",
            {"json_trigger_value": nested(DEEPEST)},
            json.loads(nested(DEEPEST)),
        ),
        ("json_trigger_value", {"json_trigger_value": nested(DEEPEST + 2)}, "first"),
        ("json_trigger_value", {"json_trigger_value": nested(200_000)}, "first"),
        ("json_trigger_value", {"json_trigger_value": "1" * 5_000}, "first"),
        ("json_trigger_value", {"json_trigger_value": '{"a": '}, "first"),
    ],
)
def test_a_value_that_no_browser_sends_leaves_the_default(
    monkeypatch: pytest.MonkeyPatch, kind: Any, sent: dict[str, Any], expected: object
) -> None:
    monkeypatch.setattr(WStates, "__getitem__", unwrap(WStates.__getitem__))  # and back again
    refused: list[None] = []
    drop_forged_values(lambda: refused.append(None))

    def read(value: Any) -> Any:
        return "first" if value is None else json.loads(value) if "json" in kind else value

    states = WStates()
    states.set_widget_metadata(WidgetMetadata("model", read, str, kind))
    states.set_widget_from_proto(WidgetState(id="model", **sent))
    for _ in range(2):  # it is refused once
        assert states["model"] == (expected or "first")
        assert [*states.items()] if expected == "bundled" else True
        assert len(refused) == (bool(sent) and expected == "first")
    with pytest.raises(KeyError):
        states["other"]
