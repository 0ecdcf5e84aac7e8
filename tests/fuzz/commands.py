"""Every command with the options of its parser, and a folder in which each can run."""

import argparse
import contextlib
import importlib
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
import torch

from headlight.__main__ import COMMANDS
from tests.conftest import Pair
from training.download import __main__ as download
from training.download.sources import SOURCES
from transformer import Tokenizer, Transformer, TransformerConfig
from transformer.checkpoints import checkpoint
from transformer.config import EOS
from transformer.files.installed import ASSETS
from viz.lessons import read_lesson
from viz.lessons.answers import Answers, GivenAnswer, Try, write_answers

SENTENCE = "The old cat waits in the garden."
LESSON = "lesson.md"
RECIPE = """
[model]
preset = "demo"
vocab_size = 100
N = 1
d_model = 16
d_ff = 16
h = 2
[training]
steps = 1
batch_tokens = 200
bf16 = false
validate_sentences = 2
"""
_MODEL, _DATA = ("--checkpoint", "model"), ("--config", "run.toml", "--data", "data")
_TEXT = (*_MODEL, "--src", "data/valid.en")
_CORPUS = (*_TEXT, "--sentences", "2")
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "app": (),
    "average": ("run",),
    "download": ("tatoeba",),
    "evaluate aer": (*_TEXT, "--tgt", "data/valid.de", "--gold", "gold"),
    "evaluate bleu": (*_TEXT, "--ref", "data/valid.de", "--beam", "1"),
    "evaluate faithfulness": _CORPUS,
    "evaluate lines": (*_TEXT, "--no-costs"),
    "evaluate heads": (*_CORPUS, "--ref", "data/valid.de", "--bleu-sentences", "2"),
    "lessons check": (LESSON, *_MODEL),
    "lessons collect": ("answers.json",),
    "lessons handout": (LESSON, *_MODEL),
    "lessons new": (),
    "prepare": _DATA,
    "report": (SENTENCE, *_MODEL, "--beam", "1"),
    "site": (*_MODEL, "--stored", "text"),
    "train": _DATA,
    "translate": (SENTENCE, *_MODEL, "--beam", "1"),
}
"""Sound arguments of each command but for its output, in the folder `pristine`."""

WRITING = sorted(
    ARGUMENTS.keys() - {"app", "evaluate aer", "evaluate bleu", "lessons check", "translate"}
)
"""Commands with an option --out."""


@pytest.fixture(scope="module")
def pristine(
    tokenizer: Tokenizer, pairs: list[Pair], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Write everything that sound arguments name, and some files that hostile ones do."""
    config = TransformerConfig(
        vocab_size=tokenizer.vocab_size, N=1, d_model=16, d_ff=16, h=2, max_length=128
    )
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(3)
        model = Transformer(config)
        # sentences that end: dimensions 8 and 9 are a slow wave of the position
        model.shared_embedding[EOS, 8] += 2.5
        model.shared_embedding[EOS, 9] -= 2.5
    folder = tmp_path_factory.mktemp("commands") / "pristine"
    extra = {"MODEL_CARD.md": "# A small model\n", "run.jsonl": '{"step": 1, "loss": 5.0}\n'}
    checkpoint.save(folder / "model", model, tokenizer, extra=extra)
    run = folder / "run"
    shutil.copytree(folder / "model", run / "checkpoints" / "step-00000001")
    (run / "run.jsonl").write_text('{"step": 1}\n')
    (folder / "data").mkdir()
    for split, count in (("train", 100), ("valid", 6)):
        for number, language in enumerate(("en", "de")):
            lines = [f"{pair[number]}\n" for pair in pairs[:count]]
            (folder / "data" / f"{split}.{language}").write_text("".join(lines))
    (folder / "run.toml").write_text(RECIPE)
    (folder / "binary").write_bytes(bytes(range(256)) * 40)
    (folder / "text").write_text("one line\n")
    (folder / "gold").write_text("0-0 1-1\n" * 6)
    (folder / LESSON).write_text(
        "---\ntitle: A\ngoal: B\nminutes: 1\nlanguage: en\n---\n## C\n"
        "```yaml\nask: D?\n```\n- [x] E\n- [ ] F\n"
    )
    bundled = read_lesson(ASSETS / "lessons" / "attention.en.md")
    given = GivenAnswer(bundled.tasks[0], "7", (Try("8", False),), shown=False)
    answers = Answers(bundled.name, bundled.checksum, "", "model", "", "Eva", (given,))
    (folder / "answers.json").write_bytes(write_answers(answers))
    (folder / "folder").mkdir()
    shutil.copytree(run, folder / "binary-log")
    (folder / "binary-log" / "run.jsonl").write_bytes(b"\xff\xfe\x00")
    return folder


@pytest.fixture
def _commands_run_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands neither wait for a server, nor serve, nor take threads, nor compute for long."""
    monkeypatch.setattr(download, "RETRIES", 0)
    nowhere = {"http://127.0.0.1:1/deu-eng.zip": None}
    sources = [replace(source, archives=nowhere) for source in SOURCES]
    monkeypatch.setattr(download, "SOURCES", sources)
    monkeypatch.setattr("training.evaluation.heads.CURVE_POINTS", 2)
    monkeypatch.setattr("viz.lessons.__main__._faults_of_views", lambda *_: [])
    monkeypatch.setattr("streamlit.web.cli.main", lambda *_, **__: None)
    monkeypatch.setattr("headlight.processes.serve", lambda *_: 0)
    monkeypatch.setattr("viz.site.__main__.lesson_page", lambda *_: "")
    torch.set_num_threads(1)


class _ParserError(Exception):
    """Carries the parser of a command that is about to parse."""


def _parser(module: str) -> argparse.ArgumentParser:
    def give(parser: argparse.ArgumentParser, *_: object) -> None:
        raise _ParserError(parser)

    with contextlib.ExitStack() as stack:
        for name in ("parse_args", "parse_known_args"):
            stack.enter_context(mock.patch.object(argparse.ArgumentParser, name, give))
        try:
            importlib.import_module(module).main([])
        except _ParserError as error:
            parser: argparse.ArgumentParser = error.args[0]
            return parser
    raise AssertionError(f"{module} parses no arguments")


def _below(
    parser: argparse.ArgumentParser, words: tuple[str, ...]
) -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, parser_ in action.choices.items():
                yield from _below(parser_, (*words, word))
        else:
            yield " ".join(words), action


def actions() -> list[tuple[str, argparse.Action]]:
    """List the arguments of all commands, by the words of the command."""
    return [
        argument
        for name, command in COMMANDS.items()
        for argument in _below(_parser(command.module), (name,))
    ]
