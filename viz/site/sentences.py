"""The sentences of a site: the bundled ones, or the lines of a file."""

from pathlib import Path
from typing import NamedTuple

from transformer.errors import InputError, reading
from transformer.files.installed import ASSETS
from transformer.files.lines import decode_lines
from transformer.files.reading import MIB, read_bytes
from transformer.text.languages import Languages

MAX_LINES = 50  # of a file: each takes some seconds and half a megabyte

_BUNDLED = {"English": "site.txt", "German": "site-de.txt"}


class Line(NamedTuple):
    """A sentence of a file."""

    number: int  # of its line, from 1
    text: str
    about: str  # what it shows, or ""


def read_sentences(path: Path) -> list[Line]:
    """Read the lines of a file that are not blank; what follows a tab is about the sentence."""
    with reading(path, InputError):
        texts = decode_lines(read_bytes(path, MIB), MAX_LINES)
    parts = [text.partition("\t") for text in texts]
    lines = [
        Line(number, text.strip(), about.strip())
        for number, (text, _, about) in enumerate(parts, start=1)
        if text.strip()
    ]
    if not lines:
        raise InputError(f"{path} has no sentence: write one on each line.")
    return lines


def bundled_sentences(languages: Languages) -> list[Line]:
    """Return the bundled sentences in the language that a model reads."""
    if languages.source not in _BUNDLED:
        raise InputError(
            f"The bundled sentences are English and German, and this model reads "
            f"{languages.name('source')}: give it a file with --stored."
        )
    return read_sentences(ASSETS / _BUNDLED[languages.source])
