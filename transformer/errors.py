"""Errors that a user can cause and correct: one plain sentence each."""

from pathlib import Path


class HeadlightError(Exception):
    """What is wrong, where, and what to do, in one sentence; shown to people as it stands."""


class ConfigError(HeadlightError):
    """An invalid configuration of a model or a run."""


class InputError(HeadlightError):
    """A text that cannot be translated as it is."""


class CheckpointError(HeadlightError):
    """A checkpoint folder that is missing, damaged, or of another format."""


class HookError(HeadlightError):
    """A hook name that the model does not have, or an edit that does not fit."""


def unwritable(error: OSError, path: Path) -> str:
    """One sentence on a file that cannot be written; `path` where the system names none."""
    return f"{error.filename or path} cannot be written: {error.strerror}."
