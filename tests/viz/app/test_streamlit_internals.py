"""Streamlit ends work that it has no more use for."""

import threading
from unittest.mock import MagicMock

import pytest
from streamlit.runtime import Runtime
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from viz.app.cache.memory import ByteCache
from viz.app.streamlit_internals import end_if_unwanted

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
