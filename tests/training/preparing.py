"""Helpers that the tests of prepared text share."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.training.conftest import RECIPE, sentence_pairs, write_pairs
from training.data import corpus, manifest, preparation
from training.data.encoded_text import EncodedFiles, Numbers
from training.data.preparation import unfinished
from training.prepare import main

# a pair that is empty, one that is too long, two that are dropped only if that is asked for
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


def kill_at_each(events: list[int], pairs: int, arguments: list[str], report: Path) -> None:
    """training.prepare, killed again and again; in a process of its own, of which it makes copies.

    Args:
        events: how many times each of them writes before it is killed. When all of them were, it is
            killed at every write after the last pair.
        pairs: of the text.
        report: what is written: for each, whether it was killed, and how many pairs were done.
    """
    out = Path(arguments[3])
    progress = unfinished(out) / preparation.PROGRESS
    results: list[tuple[bool, int]] = []
    last = iter(range(1, 100))
    while not out.exists():
        done = results[-1][1] if results else 0
        event = events[len(results)] if len(results) < len(events) else 20  # of 17 for each chunk
        if done == pairs:
            event = next(last)
        if not (child := os.fork()):
            _main_killed_at(event, arguments)
        _, status = os.waitpid(child, 0)
        if progress.exists():
            done = json.loads(progress.read_text("utf-8"))["pairs"]
        results.append((os.WIFSIGNALED(status), done))
    report.write_text(json.dumps(results), "utf-8")


def _main_killed_at(event: int, arguments: list[str]) -> None:
    left = [event]

    def count(*_: object) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            count()
            result = function(*arguments, **named)
            count()
            return result

        return counted

    def halves(self: EncodedFiles, name: str, array: Numbers) -> None:
        """Written in two halves, the first of which may be there alone."""
        content = np.ascontiguousarray(array, self._types[name]).tobytes()
        self._digests[name].update(content)
        for half in (content[: len(content) // 2 + 1], content[len(content) // 2 + 1 :]):
            count()
            self._files[name].write(half)
            self._files[name].flush()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "CHUNK", 10)
        patch.setattr(EncodedFiles, "_write", halves)
        for owner, name in (
            (preparation, "write_file"), (manifest, "write_file"),
            (Path, "rename"), (Path, "write_bytes"), (Path, "unlink"),
        ):  # fmt: skip
            patch.setattr(owner, name, around(getattr(owner, name)))
        patch.setattr(os, "fsync", count)  # the system outlives what is killed
        os._exit(main(arguments))


def contents(folder: Path) -> dict[str, str]:
    """The checksum of each file of a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
