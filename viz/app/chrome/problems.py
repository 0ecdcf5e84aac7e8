"""Errors as users see them, with the names of folders; the log has their paths."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from transformer.errors import InputError
from transformer.files.installed import ASSETS
from viz.app.log import may_log_texts

_LOG = logging.getLogger(__name__)
_VARIABLES = "HEADLIGHT_"
"""Beginning of the environment variables; those of folders hold one, or several as PATH does."""


def without_paths(error: object) -> str:
    """Replace the server's folders in an error, or its sentence, by their names; log the paths."""
    logged = sentence = str(error)
    for folder in sorted(_folders(), key=lambda folder: len(str(folder)), reverse=True):
        sentence = sentence.replace(str(folder), folder.name)
    # an error of what was typed may quote it
    if sentence != logged and (not isinstance(error, InputError) or may_log_texts()):
        _LOG.warning("%s", logged)
    return sentence


def say(error: object) -> None:
    """Draw an error as `without_paths` words it."""
    st.text(without_paths(error))


def say_of_lines(sentences: Sequence[tuple[int, str]], unit: str = "Line") -> None:
    """Draw a sentence on each of some lines or other units, whole; many scroll."""
    with st.container(height="content" if len(sentences) < 8 else 280):
        st.text("\n".join(f"{unit} {line:,}: {sentence}" for line, sentence in sentences))


def _folders() -> set[Path]:
    """Return the absolute folders that the server was given, and that of the bundled files."""
    given = [
        Path(path.strip()).expanduser()
        for name, value in os.environ.items()
        if name.startswith(_VARIABLES)
        for path in value.split(os.pathsep)
    ]
    return {folder for folder in (*given, ASSETS) if folder.is_absolute() and folder.name}
