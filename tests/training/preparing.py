"""Helpers that the tests of prepared text share."""

import hashlib
from pathlib import Path

from tests.training.conftest import RECIPE, sentence_pairs, write_pairs
from training.prepare import main

# pairs that are empty, or too long, among others
ODD = [("", "Ein Hund."), ("The dog " * 90, "Der Hund."), ("One two three.", "Eins."), ("", "")]


def write_folders(folder: Path) -> tuple[Path, Path, Path]:
    """A recipe and two folders of text, of which the first has validation text too."""
    first, second, recipe = folder / "first", folder / "second", folder / "tiny.toml"
    first.mkdir(parents=True)
    second.mkdir()
    pairs = sentence_pairs(200)
    write_pairs(first / "train", [*pairs[:90], *ODD, *pairs[90:], *pairs[:3]])
    write_pairs(first / "val", sentence_pairs(9, seed=2))
    write_pairs(second / "train", sentence_pairs(101, seed=3))
    recipe.write_text(RECIPE, "utf-8")
    return recipe, first, second


def command(recipe: Path, out: Path, *more: str | Path) -> list[str]:
    """The arguments of training.prepare."""
    return ["--config", str(recipe), "--out", str(out), *map(str, more)]


def prepared_text(folder: Path) -> Path:
    """A small prepared text, in `folder / "out"`."""
    recipe, first, second = write_folders(folder)
    assert main(command(recipe, folder / "out", "--data", first, f"{second}:0.5")) == 0
    return folder / "out"


def contents(folder: Path) -> dict[str, str]:
    """The checksum of each file of a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
