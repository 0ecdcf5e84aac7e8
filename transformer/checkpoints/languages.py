"""The file in which a checkpoint says the two languages that it translates."""

from __future__ import annotations

import json
import re
from pathlib import Path

from transformer.errors import CheckpointError
from transformer.text.languages import OURS, Languages

FILE = "languages.json"
"""A folder without one is from English to German, as are all that earlier versions wrote."""
MOST_BYTES = 4_096

_NAME = re.compile(r"(?=.{1,60}$)[^\W_]+(?:[-_ '][^\W_]+)*")  # nothing that is markup to a page


def content(languages: Languages) -> dict[str, bytes]:
    """Return the file by its name; none for English and German."""
    if languages == OURS:
        return {}
    names = {"source": languages.source, "target": languages.target}
    return {FILE: (json.dumps(names, indent=2) + "\n").encode()}


def parse(written: bytes, path: Path) -> Languages:
    """Return the languages that the file says.

    Raises:
        CheckpointError: if it does not name two.
    """
    try:
        values = json.loads(written)
        names = values["source"], values["target"]
        if all(_NAME.fullmatch(name) for name in names):
            return Languages(*names)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise CheckpointError(f"{path} does not name two languages: copy the folder again.")
