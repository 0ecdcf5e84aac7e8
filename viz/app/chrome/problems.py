"""Errors as users see them, with the names of folders; the log, which has their paths."""

import logging
import os
import traceback
from collections.abc import Iterator
from pathlib import Path

import streamlit as st

from transformer.errors import InputError
from transformer.files.installed import ASSETS

_LOG = logging.getLogger(__name__)
_VARIABLES = "HEADLIGHT_"
"""Beginning of the environment variables; those of folders hold one, or several as PATH does."""


def without_paths(error: object) -> str:
    """Replace the server's folders in an error, or its sentence, by their names; log the paths."""
    logged = sentence = str(error)
    for folder in sorted(_folders(), key=lambda folder: len(str(folder)), reverse=True):
        sentence = sentence.replace(str(folder), folder.name)
    # an error of what was typed may quote it
    if sentence != logged and (not isinstance(error, InputError) or has_texts()):
        _LOG.warning("%s", logged)
    return sentence


def say(error: object) -> None:
    """Draw an error as `without_paths` words it."""
    st.text(without_paths(error))


def _folders() -> set[Path]:
    """Return the absolute folders that the server was given, and that of the bundled files."""
    given = [
        Path(path.strip()).expanduser()
        for name, value in os.environ.items()
        if name.startswith(_VARIABLES)
        for path in value.split(os.pathsep)
    ]
    return {folder for folder in (*given, ASSETS) if folder.is_absolute() and folder.name}


TEXT_VARIABLE = "HEADLIGHT_LOG_TEXT"
"""Environment variable that lets the log have what people typed, where it is 1."""


def has_texts() -> bool:
    """Return whether the log may have what people typed."""
    return os.environ.get(TEXT_VARIABLE) == "1"


def begin_log(version: str) -> None:
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


class Record(logging.LogRecord):
    """Record of the log whose traceback names places and types, but quotes no message."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        if isinstance(self.exc_info, tuple) and self.exc_info[1] and not has_texts():
            self.exc_text = "\n".join(_places(self.exc_info[1]))


def _places(error: BaseException) -> Iterator[str]:
    """Yield the traceback of an error and of its causes, the first one first."""
    if earlier := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        yield from _places(earlier)
    yield "Traceback (most recent call last):"
    yield "".join(traceback.format_tb(error.__traceback__)) + type(error).__qualname__
