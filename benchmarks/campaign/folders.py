"""Folders of a person at and beside the output of every command: no byte of them is changed."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import itertools
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import torch

from benchmarks.campaign import judged
from benchmarks.campaign.commands import furnish
from benchmarks.campaign.judged import Judged
from benchmarks.campaign.occupied import BESIDE, KINDS, fingerprint
from benchmarks.campaign.outcome import Outcome
from benchmarks.campaign.small_model import SENTENCE
from benchmarks.campaign.text import run_main
from benchmarks.campaign.worker import Worker
from headlight.__main__ import COMMANDS
from training.download import __main__ as download

ENTRANCE = "folders"
INPUTS = {
    "--before", "--card", "--checkpoint", "--comet", "--evaluation", "--examples", "--gold",
    "--notes", "--ref", "--src", "--start-from", "--tgt", "--tokenizer",
}  # fmt: skip
"""Options that take a path and write nothing there."""


class Output(NamedTuple):
    """An option that names what a command writes.

    Args:
        command: the words of the command, such as `evaluate heads`.
        option: its longest form.
    """

    command: str
    option: str


class Trial(NamedTuple):
    """A command that is run where a person has something.

    Args:
        output: the option whose value is the target.
        kind: the name of one of `KINDS`.
        endings: of the names, after that of the target, at which it is put; empty for the target.
    """

    output: Output
    kind: str
    endings: tuple[str, ...]


_TEXT = ("--checkpoint", "model", "--src", "data/valid.en", "--sentences", "2")
_DATA = ("--config", "run.toml", "--data", "data")
ARGUMENTS = {
    Output("average", "--out"): ("run",),
    Output("card", "--out"): ("run",),
    Output("download", "--out"): ("tatoeba", "--mirror", "http://127.0.0.1:1"),
    Output("evaluate faithfulness", "--out"): _TEXT,
    Output("evaluate heads", "--out"): (
        *_TEXT, "--ref", "data/valid.de", "--bleu-sentences", "2",
    ),
    Output("export ctranslate2", "--out"): ("--checkpoint", "model"),
    Output("export marian", "--out"): ("--checkpoint", "model"),
    Output("prepare", "--out"): _DATA,
    Output("report", "--out"): (SENTENCE, "--checkpoint", "model", "--beam", "1"),
    Output("report", "--traces"): (
        "--lines", "data/valid.en", "--checkpoint", "model", "--beam", "1", "-o", "page.html",
    ),
    Output("train", "--out"): _DATA,
}  # fmt: skip
"""Arguments of each command beside its output, in a folder that `furnish` made."""

FILES = {"report --out", "card --out", "evaluate heads --out", "evaluate faithfulness --out"}
"""Outputs that are one file: a file of this name is replaced, which is what was asked for."""


def run(count: int, seed: int) -> Iterator[Outcome]:
    """Try every kind at every place of every command, in an order that is drawn."""
    tried = list(trials())
    random.Random(seed).shuffle(tried)
    with tempfile.TemporaryDirectory() as name:
        furnished = Path(name) / "furnished"
        furnish(furnished)
        with Worker(_try) as worker:
            for trial in tried[:count]:
                reply = worker.call((str(furnished), trial))
                where = ", ".join(f"out{ending}" for ending in trial.endings)
                title = f"{' '.join(trial.output)}: {trial.kind} at {where}"
                yield judged.outcome(ENTRANCE, title, reply)


def trials() -> Iterator[Trial]:
    """Yield every kind at the target, and at each name beside it."""
    for output, kind, ending in itertools.product(ARGUMENTS, KINDS, ("", *BESIDE)):
        if not (kind == "a file" and ending == "" and " ".join(output) in FILES):
            yield Trial(output, kind, (ending,))


def outputs() -> set[Output]:
    """Find the options of all commands that name what is written, in their parsers."""
    return {
        Output(" ".join([name, *words]), max(action.option_strings, key=len))
        for name, command in COMMANDS.items()
        for words, action in _actions(_parser(command.module))
        if action.option_strings
        and (action.type is Path or {"--out", "-o", "--traces"} & {*action.option_strings})
        and not INPUTS & {*action.option_strings}
    }


class _FoundError(Exception):
    """Carries the parser of a command that is about to parse."""


def _parser(module: str) -> argparse.ArgumentParser:
    def found(parser: argparse.ArgumentParser, *_: object) -> None:
        raise _FoundError(parser)

    with contextlib.ExitStack() as stack:
        for name in ("parse_args", "parse_known_args"):
            stack.enter_context(mock.patch.object(argparse.ArgumentParser, name, found))
        try:
            importlib.import_module(module).main([])
        except _FoundError as error:
            parser: argparse.ArgumentParser = error.args[0]
            return parser
    raise AssertionError(f"{module} parses no arguments")


def _actions(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.Action]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, below in action.choices.items():
                yield from _actions(below, (*words, word))
        else:
            yield words, action


def _try(argument: tuple[str, Trial]) -> Judged:
    folder, trial = argument
    torch.set_num_threads(1)
    os.chdir(folder)
    with tempfile.TemporaryDirectory() as name:
        return judge(trial, Path(name) / "out")


def judge(trial: Trial, out: Path) -> Judged:
    """Run the command of a trial with this target; bad if anything of the person changed.

    The working directory must be a folder that `furnish` made, and that of the target empty.
    """
    download.RETRIES = 0  # each waits for seconds
    for ending in trial.endings:
        KINDS[trial.kind](out.with_name(out.name + ending), Path("model"))
    before = fingerprint(out.parent)
    main = importlib.import_module("headlight.__main__").main
    words, option = trial.output
    arguments = [*words.split(), *ARGUMENTS[trial.output], option, str(out)]
    status, printed, errors = run_main(main, arguments, b"")
    after = fingerprint(out.parent)
    _make_writable(out.parent)
    if lost := sorted(path for path, state in before.items() if after.get(path) != state):
        return "bad", f"changed: {', '.join(lost)[:300]}"
    if status == 0:
        return "accepted", ""
    if new := sorted(after.keys() - before.keys()):
        return "bad", f"left behind: {', '.join(new)[:300]}"
    sentence = errors.rstrip("\n").rpartition("\n")[2]
    if status != 2 or "Traceback" in printed + errors:
        return "bad", f"exit status {status}: {errors[-300:]}"
    return judged.refused(sentence)


def _make_writable(folder: Path) -> None:
    """Let whoever removes the folder do so."""
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
