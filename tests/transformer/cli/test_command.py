"""A command and its signals, and output that cannot be written."""

import argparse
import io
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headlight.__main__ import main
from tests.training import conftest
from transformer.cli import command
from transformer.errors import InputError
from transformer.files.atomic import MARK

ROOT = Path(__file__).parents[3]
SCRIPT = """
import os, signal, sys, time
from pathlib import Path
from transformer.cli import command
from transformer.files.atomic import replace_folder, temporary_folder

def body():
    with temporary_folder(here / "tmp") as folder, replace_folder(here / "out") as new:
        (folder / "file").write_text("half")
        (new / "file").write_text("half")
        os.kill(os.getpid(), int(sys.argv[2]))
        time.sleep(20)

here = Path(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)  # some workers ignore it
sys.exit(command.run("name", body))
"""


def interrupted(folder: Path, number: int) -> tuple[int, str, list[str]]:
    """Send a signal to a command that writes: its status, its errors, and what it leaves."""
    (folder / "tmp").mkdir(exist_ok=True)
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), str(int(number))],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return ran.returncode, ran.stderr, [p.name for p in folder.rglob("*") if MARK in p.name]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_one_line_and_leaves_no_folder(tmp_path, number, status):
    assert interrupted(tmp_path, number) == (status, "name: stopped.\n", [])


def output(kind: str) -> io.TextIOWrapper | None:
    """Return an output that takes nothing: a full disk, a pipe without a reader, or none."""
    if kind == "closed":
        return None
    if kind == "full":
        return Path("/dev/full").open("w")
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "w")


@pytest.mark.parametrize(("kind", "status"), [("full", 2), ("pipe", 0), ("closed", 0)])
@pytest.mark.parametrize("run", [command.run, command.run_guarded])
def test_output_that_takes_nothing(monkeypatch, capsys, kind, status, run):
    stream = output(kind)
    monkeypatch.setattr("sys.stdout", stream)
    assert run("name", lambda: print("text")) == status
    message = "name: Standard output cannot be written: No space left on device.\n"
    assert capsys.readouterr().err == (message if status else "")


def test_what_a_command_says_has_the_name_of_its_parser(capsys):
    def body(options: argparse.Namespace) -> int:
        command.say("first")
        raise InputError(f"second {options.given}")

    def parser() -> argparse.ArgumentParser:
        made = argparse.ArgumentParser(prog="headlight part")
        made.add_argument("given")
        return made

    assert command.main(parser, body)(["x"]) == 2
    command.say("third")
    lines = ["headlight part: first", "headlight part: second x", "headlight: third"]
    assert capsys.readouterr().err.splitlines() == lines


def test_a_file_that_is_a_pipe_without_a_reader_any_more_is_no_error(capsys):
    reader, writer = os.pipe()

    os.close(reader)

    def body() -> None:
        command.save(Path(f"/dev/fd/{writer}"), "text")

    status = command.run("name", body)
    os.close(writer)
    assert (status, capsys.readouterr().err) == (0, "")


OUTPUTS = {
    "report --out": ["A man.", "--checkpoint", "model"],
    "site --out": ["--stored", "text", "--checkpoint", "model"],
    "lessons handout": ["lesson"],
    "lessons collect": ["text"],
    "average --out": ["model", "model"],
    "evaluate heads": ["--checkpoint", "model", "--src", "text", "--ref", "text"],
    "evaluate lines": ["--checkpoint", "model", "--src", "text"],
    "evaluate faithfulness": ["--checkpoint", "model", "--src", "text"],
    "prepare --out": ["--config", "demo.toml", "--data", "data"],
    "train --out": ["--config", "demo.toml", "--data", "data"],
}
COMPUTATIONS = (
    "transformer.Translator.translate", "transformer.Translator.trace",
    "transformer.corpus.measuring.measure_lines", "transformer.corpus.measuring.measure_pairs",
    "training.average.average", "training.trainer.Trainer.run", "training.prepare.count_pairs",
    "viz.lessons.__main__.answer_key",
    "viz.lessons.__main__.read_answers",
)  # fmt: skip


@pytest.mark.parametrize("words", OUTPUTS)
def test_an_output_that_cannot_be_written_is_refused_before_anything_is_computed(
    words, tmp_path, checkpoint_folder, monkeypatch, capsys
):
    name, option = words.split()
    rest = OUTPUTS[words]
    shutil.copytree(checkpoint_folder, tmp_path / "model")
    shutil.copy(ROOT / "assets/lessons/attention.en.md", tmp_path / "lesson")
    (tmp_path / "data").mkdir()
    conftest.write_pairs(tmp_path / "data" / "train", conftest.sentence_pairs(9))
    conftest.write_pairs(tmp_path / "data" / "valid", conftest.sentence_pairs(9))
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("A man.\n")
    Path("link").symlink_to("nowhere/file")
    Path("file").write_text("mine")
    for computation in COMPUTATIONS:
        monkeypatch.setattr(computation, lambda *_, **__: pytest.fail("too late"))
    subcommand = [option] if not option.startswith("--") else []
    arguments = [name, *subcommand, *rest, "--out"]
    folders = name in ("site", "average", "prepare", "train")
    for out in ("file/new", "x" * 300, *([] if folders else ["no/such", "link", "data"])):
        assert main([*arguments, out]) == 2
        assert out[:90] in capsys.readouterr().err.replace("file cannot", "file/new cannot")

    def full(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    monkeypatch.setattr("pathlib.Path.mkdir", full)
    assert main([*arguments, "new"]) == 2
    assert "cannot be written: Read-only file system" in capsys.readouterr().err
    assert Path("file").read_text() == "mine"
