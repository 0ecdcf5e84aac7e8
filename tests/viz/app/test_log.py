"""The log has places and types of errors, and nothing that was typed."""

import io
import logging
import tomllib
from collections.abc import Iterator

import pytest
from streamlit import error_util

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
    log._written.clear()
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
    # nor is it logged with a path
    monkeypatch.setenv(MODELS_VARIABLE, "/srv/models")
    assert without_paths(InputError(f"/srv/models: {TYPED}")) == f"models: {TYPED}"
    assert without_paths(CheckpointError("/srv/models is damaged")) == "models is damaged"
    assert (TYPED in written.getvalue()) == (allowed == "1")
    assert "/srv/models is damaged" in written.getvalue()


def deeper(levels: int) -> None:
    if not levels:
        raise RecursionError
    if levels % 2:  # two places, so that no traceback is one line that repeats
        deeper(levels - 1)
    else:
        deeper(levels - 1)


def test_a_traceback_that_comes_again_is_one_line_and_none_is_long(written, monkeypatch) -> None:
    monkeypatch.setenv(log.TEXT_VARIABLE, "0")
    logger = logging.getLogger("viz.app.jobs")

    def lines(levels: int) -> list[str]:
        before = len(written.getvalue().splitlines())
        try:
            deeper(levels)
        except RecursionError:
            logger.exception("job failed: %s", "Measuring")
        return written.getvalue().splitlines()[before:]

    assert 10 < len(lines(500)) < 4 * log.FRAMES  # more than two lines for each place
    for _ in range(3):
        (line,) = lines(500)
        assert line.endswith("job failed: Measuring: RecursionError once more")
    assert len(lines(3)) > 5  # another one
    log._written.clear()  # as a minute later
    assert len(lines(500)) > 10


def test_streamlit_s_own_log_of_an_error_goes_through_it(written, monkeypatch) -> None:
    settings = tomllib.loads((FILES / ".streamlit/config.toml").read_text("utf-8"))
    assert not settings["logger"]["enableRich"]  # else it prints errors past our log, in boxes
    monkeypatch.setenv(log.TEXT_VARIABLE, "0")
    stream = io.StringIO()
    monkeypatch.setattr(error_util._LOGGER, "handlers", [logging.StreamHandler(stream)])
    try:
        int(TYPED)
    except ValueError as error:
        error_util._log_uncaught_app_exception(error)
    assert "ValueError" in stream.getvalue()
    assert TYPED not in stream.getvalue()
