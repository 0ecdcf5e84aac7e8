"""The models that this server offers: their folders, by the names that menus and links have."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from transformer import marian
from transformer.checkpoint import CONFIG, MANIFEST, WEIGHTS
from transformer.errors import one_line, unreadable
from transformer.files import BUNDLED
from transformer.marian.stored import PICKLED
from transformer.marian.vocabulary import SOURCE_SPM, VOCABULARY

CHECKPOINT_VARIABLE = "HEADLIGHT_CHECKPOINT"
"""Environment variable that names another checkpoint folder than the bundled one.

It may name several, as PATH does: the first one translates unless another is chosen.
"""
MODELS_VARIABLE = "HEADLIGHT_MODELS"
"""Environment variable that names a folder of model folders, ours and those of MarianMT."""

SEPARATOR = os.pathsep
BUNDLED_NAME = "bundled"
_OF_MODELS = (WEIGHTS, VOCABULARY, MANIFEST, SOURCE_SPM, PICKLED)
"""Files that only a model has; a `config.json` has to say that it is one of the hub's."""


@dataclass(frozen=True)
class OfferedModels:
    """What can be chosen now.

    Args:
        folders: by name; the first one translates unless another is chosen.
        problem: a sentence on a folder of models that cannot be read, or "".
    """

    folders: Mapping[str, Path] = field(default_factory=dict)
    problem: str = ""

    @property
    def default(self) -> str:
        """The name of the first one."""
        return next(iter(self.folders))


def offered() -> OfferedModels:
    """The folders of both variables and the bundled one, as they are at this moment."""
    named = [
        Path(path.strip()).expanduser()
        for path in os.environ.get(CHECKPOINT_VARIABLE, "").split(SEPARATOR)
        if path.strip()
    ]
    found, problem = _models_in(os.environ.get(MODELS_VARIABLE, "").strip())
    return OfferedModels(_by_name([*named, BUNDLED, *found]), problem)


def _models_in(folder: str) -> tuple[list[Path], str]:
    """The model folders in a folder, and what is wrong with it."""
    if not folder:
        return [], ""
    path = Path(folder).expanduser()
    try:
        with os.scandir(path) as entries:
            found = [entry.path for entry in entries if not entry.name.startswith(".")]
    except (OSError, ValueError) as error:
        why = error if isinstance(error, OSError) else OSError(f"{error}")
        return [], one_line(f"{MODELS_VARIABLE}: {unreadable(why, path)}")
    return [Path(one) for one in sorted(filter(_is_model, found), key=str.casefold)], ""


def _is_model(folder: str) -> bool:
    """Whether a folder is meant to be a model; a damaged one is, and says so when it is chosen."""
    # os.path answers where pathlib raises: links in a circle, what may not be read; and thousands
    # of entries are looked at in each run
    if any(os.path.exists(f"{folder}/{name}") for name in _OF_MODELS):  # noqa: PTH110
        return True
    return os.path.exists(f"{folder}/{CONFIG}") and marian.is_marian(Path(folder))  # noqa: PTH110


def _by_name(folders: Sequence[Path]) -> dict[str, Path]:
    """Folders by their last parts, as many as tell two apart; each of them once."""
    once = {os.path.abspath(folder): folder for folder in folders}  # noqa: PTH100
    parts = {
        folder: (BUNDLED_NAME,) if folder == BUNDLED else tuple(map(one_line, Path(path).parts[1:]))
        for path, folder in once.items()
    }
    named = {}
    for folder, own in parts.items():
        others = [theirs for other, theirs in parts.items() if other != folder]
        count = 1
        while count < len(own) and any(own[-count:] == theirs[-count:] for theirs in others):
            count += 1
        named["/".join(own[-count:])] = folder
    return named
