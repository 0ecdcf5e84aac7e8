"""Errors that a person can cause and a person can mend: one plain sentence each."""

from pathlib import Path


class HeadlightError(Exception):
    """What is wrong, where, and what to do, in one sentence; shown to people as it stands."""


class ConfigError(HeadlightError):
    """A configuration that describes no possible model or run."""


class InputError(HeadlightError):
    """A text that cannot be translated as it is."""


class CheckpointError(HeadlightError):
    """A checkpoint folder that is missing, damaged, or not one of ours."""


class HookError(HeadlightError):
    """A hook name that the model does not have, or an edit that does not fit."""


def unwritable(error: OSError, path: Path) -> str:
    """What a full or closed disk means, as a sentence; `path` where the system names none."""
    return f"{error.filename or path} cannot be written: {error.strerror}."
