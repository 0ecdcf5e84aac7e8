"""The log has places and types of errors, and nothing that was typed."""

import io
import logging
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from transformer import CheckpointError, InputError
from transformer.files.installed import FILES
from viz.app import log
from viz.app.chrome.problems import without_paths
from viz.app.models.menu import MODELS_VARIABLE

TYPED = "mein geheimer Satz"


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """Text that the server writes to its log."""
    logger = logging.getLogger("viz")
    before = logger.handlers[:], logger.level, logger.propagate, logging.getLogRecordFactory()
    logger.handlers.clear()
    log.begin("1.2.3")
    stream = io.StringIO()
    (handler,) = logger.handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    yield stream
    logger.handlers[:], level, logger.propagate, factory = before
    logger.setLevel(level)
    logging.setLogRecordFactory(factory)


def fail() -> None:
    try:
        int(TYPED)
    except ValueError as error:
        raise KeyError(TYPED) from error


@pytest.mark.parametrize("allowed", ["0", "1"])
def test_a_traceback_has_no_message_unless_asked(written, monkeypatch, allowed) -> None:
    monkeypatch.setenv(log.TEXT_VARIABLE, allowed)
    try:
        fail()
    except KeyError:
        logging.getLogger("viz.app.jobs").exception("job failed: Measuring")
    text = written.getvalue()
    assert text.index("ValueError") < text.index("KeyError")
    assert "test_log.py" in text
    assert (TYPED in text) == (allowed == "1")


def test_what_was_typed_is_not_logged_with_a_path(written, monkeypatch) -> None:
    monkeypatch.setenv(MODELS_VARIABLE, "/srv/models")
    monkeypatch.delenv(log.TEXT_VARIABLE, raising=False)
    assert without_paths(InputError(f"/srv/models: {TYPED}")) == f"models: {TYPED}"
    assert without_paths(CheckpointError("/srv/models is damaged")) == "models is damaged"
    assert TYPED not in written.getvalue()
    assert "/srv/models is damaged" in written.getvalue()


SCRIPT = """
import rich  # else Streamlit has no boxes
from streamlit.error_util import _log_uncaught_app_exception
from viz.app import log
log.begin("1.2.3")
try:
    int("mein geheimer Satz")
except ValueError as error:
    _log_uncaught_app_exception(error)
"""


@pytest.mark.slow
def test_an_error_of_a_page_is_logged_without_what_was_typed() -> None:
    environment = {**os.environ, "PYTHONPATH": str(FILES), log.TEXT_VARIABLE: "0"}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=FILES, env=environment, text=True, capture_output=True,
        check=True,
    )  # fmt: skip
    assert run.stdout == ""
    assert "ValueError" in run.stderr
    assert TYPED not in run.stderr
    assert "╭" not in run.stderr
