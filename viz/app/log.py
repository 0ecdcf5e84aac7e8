"""The log: one line for each event, without what people typed."""

import logging
import os
import traceback
from collections.abc import Iterator
from threading import Lock

from cachetools import TTLCache

TEXT_VARIABLE = "HEADLIGHT_LOG_TEXT"
"""Environment variable that lets the log have what people typed, where it is 1."""


def may_log_texts() -> bool:
    """Return whether the log may have what people typed."""
    return os.environ.get(TEXT_VARIABLE) == "1"


def begin(version: str) -> None:
    """Write the program's events to standard error, and the tracebacks of all without messages."""
    logger = logging.getLogger("viz")
    if logger.handlers:
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logging.setLogRecordFactory(Record)
    _LOG.info("start: version %s, process %d", version, os.getpid())


_LOG = logging.getLogger(__name__)

_refused: TTLCache[str, bool] = TTLCache(maxsize=256, ttl=1)
"""Reasons of refusals of the last second."""


def log_refusal(reason: str) -> None:
    """Log a refusal, at most once a second for each reason; `reason` is never user input."""
    with _lock:
        is_new = reason not in _refused
        _refused.setdefault(reason, True)
    if is_new:
        _LOG.warning("refused: %s", reason)


_written: TTLCache[str, bool] = TTLCache(maxsize=256, ttl=60)
"""Tracebacks of the last minute: somebody who can cause one could fill the log with it."""

_lock = Lock()

FRAMES = 24  # places in a traceback, the last ones


class Record(logging.LogRecord):
    """Record of the log whose traceback names places and types, but quotes no message.

    The same traceback is written once a minute; between, one line says that it came again.
    """

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        if isinstance(self.exc_info, tuple) and self.exc_info[1] and not may_log_texts():
            self.exc_text = "\n".join(_places(self.exc_info[1]))
            with _lock:
                came_before = self.exc_text in _written
                _written.setdefault(self.exc_text, True)
            if came_before:
                self.msg = f"{self.getMessage()}: {type(self.exc_info[1]).__qualname__} once more"
                self.args = self.exc_info = self.exc_text = None


def _places(error: BaseException) -> Iterator[str]:
    """Yield the traceback of an error and of its causes, the first one first."""
    if earlier := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        yield from _places(earlier)
    yield "Traceback (most recent call last):"
    yield "".join(traceback.format_tb(error.__traceback__, -FRAMES)) + type(error).__qualname__
