"""Where the parts of a plan lie, and the folders of text that their names stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from training.corpus import SOURCE, TARGET, validation_prefix
from training.data.folders import DataFolder
from transformer.errors import ConfigError, quoted

TEXT, FIRST = "text", "first"
"""Names of text in a plan: all folders of --data, and the first of them alone."""
RUN = "run"
"""The folder of a training within that of its part."""
SPLITS = ("train", "valid", "val")


@dataclass(frozen=True)
class Place:
    """What a plan is carried out on.

    Args:
        plan: the folder of the plan's file, which names configurations beside it.
        out: the folder with a folder for each part.
        data: the folders of text; the first also holds the validation text.
        held_out: texts to measure on, as paths without `.en` and `.de`.
    """

    plan: Path
    out: Path
    data: tuple[DataFolder, ...]
    held_out: tuple[Path, ...] = ()

    def folder(self, part: str) -> Path:
        """The folder of a part."""
        return self.out / part

    def model(self, part: str) -> Path:
        """The checkpoint that a part trains."""
        return self.folder(part) / RUN / "averaged"

    def files(self, pattern: str) -> list[Path]:
        """The files beside that of the plan whose names match.

        Raises:
            ConfigError: if there is none, or this is no pattern.
        """
        try:
            found = list(self.plan.glob(pattern))
        except (NotImplementedError, ValueError, IndexError, OSError) as error:
            # of "/*", of "", of ".", and of a name that is too long
            raise ConfigError(
                f"configs: {quoted(pattern)} is no pattern of files beside the plan: write one "
                f"such as rows/*.toml."
            ) from error
        if not found:
            raise ConfigError(f"configs: no file is called {quoted(pattern)}: mend the plan.")
        return found

    def arguments(self, names: Sequence[str], *, swapped: bool = False) -> list[str]:
        """Names of a plan, each perhaps with a weight, as arguments of `--data`.

        Args:
            swapped: with source and target exchanged.

        Raises:
            OSError: if the swapped folders cannot be written.
        """
        folders = [folder for name in names for folder in self._named(name)]
        if swapped:
            folders = [
                DataFolder(self._swapped(number, folder.path), folder.weight)
                for number, folder in enumerate(folders)
            ]
        return [
            str(folder.path) if folder.weight == 1 else f"{folder.path}:{folder.weight:g}"
            for folder in folders
        ]

    def measured_texts(self) -> list[tuple[str, Path, Path]]:
        """Name, source and reference of each held-out text, or else of the validation text.

        Raises:
            ConfigError: if two have one name, so that one result would replace the other.
        """
        prefixes = self.held_out or (validation_prefix(self.data[0].path),)
        names = [prefix.name for prefix in prefixes]
        if len(set(names)) < len(names):
            raise ConfigError(
                f"Two texts of --held-out are called {max(names, key=names.count)}: rename one."
            )
        return [
            (prefix.name, Path(f"{prefix}.{SOURCE}"), Path(f"{prefix}.{TARGET}"))
            for prefix in prefixes
        ]

    def _named(self, name: str) -> list[DataFolder]:
        bare, weight = split_weight(name)
        if bare == TEXT:
            folders = list(self.data)
        elif bare == FIRST:
            folders = [self.data[0]]
        else:
            folders = [DataFolder(self.folder(bare) / RUN)]
        return [DataFolder(folder.path, folder.weight * weight) for folder in folders]

    def _swapped(self, number: int, folder: Path) -> Path:
        """A folder whose files lead to those of the other language."""
        swapped = self.out / "swapped" / f"{number}-{folder.name}"
        swapped.mkdir(parents=True, exist_ok=True)
        for split in SPLITS:
            for ours, theirs in ((SOURCE, TARGET), (TARGET, SOURCE)):
                link, file = swapped / f"{split}.{ours}", folder.absolute() / f"{split}.{theirs}"
                if link.is_symlink() and link.readlink() != file:
                    link.unlink()
                if file.exists() and not link.is_symlink():
                    link.symlink_to(file)
        return swapped


def split_weight(name: str) -> tuple[str, float]:
    """`text` or `text:0.5` of a plan to name and weight.

    Raises:
        ConfigError: if the weight is no number above 0.
    """
    bare, colon, written = name.partition(":")
    try:
        weight = float(written) if colon else 1.0
    except ValueError:
        weight = 0.0
    if not 0 < weight < 1_000:
        raise ConfigError(f"data: '{name}' has a weight that is no number above 0: mend the plan.")
    return bare, weight
