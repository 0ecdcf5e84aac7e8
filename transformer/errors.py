"""Errors that a user can cause and correct: one plain sentence each."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

MAX_WORD_LENGTH, MAX_MESSAGE_LENGTH = 300, 1_200
"""Characters of an error; what is longer was brought by somebody: a name, a number, a text."""


class HeadlightError(Exception):
    """Error with one sentence for the user: what is wrong, where, and what to do.

    Characters that cannot be printed are escaped. A long name or text is shortened in the middle,
    marked by ….
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(one_line(sentence))


class ConfigError(HeadlightError):
    """An invalid configuration of a model or a run."""


class InputError(HeadlightError):
    """Something given that cannot be used: a text, an argument, a file."""


class CheckpointError(HeadlightError):
    """A checkpoint or a saved trace that is missing or damaged, or computes what is not finite."""


class NotFiniteError(CheckpointError):
    """A model computes NaN, or log P = -∞ of all: its weights are too large, or a hook's doing."""

    @classmethod
    def for_model(cls, model: str = "The model", *, hooked: bool = False) -> "NotFiniteError":
        """Make the error on a model, by its name in the sentence, and on the hooks that are set."""
        advice = "take another checkpoint" + (", or remove the hooks" if hooked else "")
        return cls(f"{model} computes numbers that are not finite, so it writes nothing: {advice}.")


class HookError(HeadlightError):
    """A hook name that the model does not have, or an edit that does not fit."""


def one_line(sentence: str) -> str:
    """Return the sentence on one line of bounded length, every character printable."""
    if not sentence.isprintable():
        sentence = "".join(
            c if c.isprintable() else c.encode("unicode_escape").decode() for c in sentence
        )
    words = (shortened(word, MAX_WORD_LENGTH) for word in sentence.split(" "))
    return shortened(" ".join(words), MAX_MESSAGE_LENGTH)


def shortened(text: str, most: int) -> str:
    """Return the text, or its beginning and end with … between them where it is too long."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def quoted(value: object) -> str:
    """Quote a value of a file for an error; Python writes out no number of 4,300 digits."""
    try:
        return shortened(repr(value), MAX_WORD_LENGTH)
    except ValueError:
        return "a number of thousands of digits"
    except RecursionError:
        return "lists within lists"


def unreadable(error: OSError, path: str | os.PathLike[str]) -> str:
    """Describe in one sentence why a file cannot be read."""
    return f"{path} cannot be read: {error.strerror or error}."


def unwritable(error: OSError, path: str | os.PathLike[str]) -> str:
    """Describe in one sentence why a file cannot be written; `path` if the error names no file."""
    return f"{error.filename or path} cannot be written: {error.strerror or error}."


@contextmanager
def reading(
    path: str | os.PathLike[str], kind: type[HeadlightError] = CheckpointError, missing: str = ""
) -> Iterator[None]:
    """Turn an OSError into an error of this kind on a file that is read; a context manager.

    `missing` is the whole sentence where there is no such file.
    """
    try:
        yield
    except OSError as error:
        is_missing = missing and isinstance(error, FileNotFoundError)
        raise kind(missing if is_missing else unreadable(error, path)) from error


@contextmanager
def writing(
    path: str | os.PathLike[str],
    kind: type[HeadlightError] = CheckpointError,
    advice: str = "",
) -> Iterator[None]:
    """Turn an OSError into an error of this kind on a file that is written; a context manager."""
    try:
        yield
    except OSError as error:
        raise kind(f"{unwritable(error, path)} {advice}".rstrip()) from error
