import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.transformer.reference import is_one_sentence
from transformer.__main__ import main

ROOT = Path(__file__).parents[2]
SLOW_START = pytest.mark.timeout(300)  # three processes that each import torch
TEXT = "The dog waits beside the river."
LINES = ["The dog waits.", "", "   ", "A small bird sings in the garden.", ""]


class Finished:
    def __init__(self, process, stdin):
        out, err = process.communicate(stdin, timeout=240)
        self.status, self.out, self.err = process.returncode, out.decode(), err.decode()


@pytest.fixture(scope="module")
def runs(checkpoint_folder, tmp_path_factory):
    """The real command in three situations, all at once because it takes seconds to start."""
    there = ["--checkpoint", str(checkpoint_folder)]
    broken = tmp_path_factory.mktemp("broken")
    utf8 = {"PYTHONIOENCODING": "utf-8:strict"}
    situations = {
        "lines": (there, "\n".join(LINES).encode() + b"\n", {}),
        "no checkpoint": (["--checkpoint", str(broken), TEXT], b"", {}),
        "not utf-8": (there, b"The dog waits.\nA \xff bird.\n", utf8),
    }
    started = {
        name: (start(arguments, environment), stdin)
        for name, (arguments, stdin, environment) in situations.items()
    }
    return {name: Finished(*pair) for name, pair in started.items()}


def start(arguments, environment):
    return subprocess.Popen(
        [sys.executable, "-m", "transformer", *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@SLOW_START
def test_standard_input_is_translated_line_by_line(runs, translator):
    run = runs["lines"]
    expected = [translator.translate(line).text if line.strip() else "" for line in LINES]
    assert (run.status, run.out, run.err) == (0, "\n".join(expected) + "\n", "")


@SLOW_START
@pytest.mark.parametrize("situation", ["no checkpoint", "not utf-8"])
def test_what_goes_wrong_is_one_sentence_and_status_2(runs, situation):
    run = runs[situation]
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith("transformer: ")
    assert is_one_sentence(run.err.removesuffix("\n"))
    assert "Traceback" not in run.err


@pytest.fixture
def run(checkpoint_folder, monkeypatch, capsys):
    """The command without a process of its own: (status, stdout, stderr)."""

    def run(*arguments, stdin=b""):
        text = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", text)
        try:
            status: object = main(["--checkpoint", str(checkpoint_folder), *arguments])
        except SystemExit as left:  # as argparse does
            status = left.code
        return (status, *capsys.readouterr())

    return run


def test_a_sentence_is_translated(run, translator):
    assert run(TEXT)[:2] == (0, translator.translate(TEXT).text + "\n")


def test_bytes_that_became_surrogates_are_refused(run):
    """In the C locale Python reads any byte, and hands on what it does not understand."""
    status, out, err = run("A \udcff bird.")
    assert (status, out) == (2, "")
    assert is_one_sentence(err.removesuffix("\n"))


@pytest.mark.parametrize("beam", ["0", "-1", "65", "four", "1.5", "", "²"])
def test_an_impossible_beam_is_refused(run, beam):
    status, out, err = run("--beam", beam, TEXT)
    assert (status, out) == (2, "")
    assert f"'{beam}' must be a whole number from 1 to 64" in err or "expected one argument" in err


@pytest.mark.parametrize("beam", [1, 3, 64])
def test_the_beam_is_as_wide_as_asked(run, translator, beam):
    status, out, _ = run("--beam", str(beam), TEXT)
    assert (status, out) == (0, translator.translate(TEXT, beam_size=beam).text + "\n")


def test_an_unknown_option_is_refused(run):
    status, out, err = run("--beams", "4", TEXT)
    assert (status, out) == (2, "")
    assert "Traceback" not in err


def test_bytes_that_are_no_utf8_are_refused(run):
    status, out, err = run(stdin=b"The dog waits.\nA \xff bird.\n")
    assert (status, out) == (2, "")
    assert err.startswith("transformer: standard input is not UTF-8")
    assert is_one_sentence(err.removesuffix("\n"))


def test_an_empty_sentence_is_refused(run):
    status, out, err = run("")
    assert (status, out) == (2, "")
    assert err == "transformer: The text is empty: type an English sentence.\n"


def test_a_notice_goes_to_standard_error(run, translator):
    status, out, err = run("The 😀 dog")
    translation = translator.translate("The 😀 dog")
    assert (status, out) == (0, translation.text + "\n")
    assert err.splitlines() == list(translation.notices)


def test_no_input_gives_no_output(run):
    assert run(stdin=b"") == (0, "", "")


def test_line_endings_of_windows_are_line_endings(run):
    assert run(stdin=b"The dog waits.\r\n\r\n") == run(stdin=b"The dog waits.\n\n")


def test_a_last_line_without_an_end_is_translated(run):
    assert run(stdin=b"The dog waits.") == run(stdin=b"The dog waits.\n")


def test_more_lines_than_are_translated_at_once_keep_their_order(run, translator, pairs):
    lines = [pair.english if i % 7 else "" for i, pair in enumerate(pairs[:70])]
    status, out, _ = run("--beam", "1", stdin="\n".join(lines).encode())
    expected = [translator.translate(t, beam_size=1).text if t else "" for t in lines]
    assert (status, out.splitlines()) == (0, expected)


def test_a_line_that_is_too_long_is_refused_with_its_place(run):
    lines = b"The dog waits.\n" * 40 + b"dog " * 999
    status, out, err = run("--beam", "1", stdin=lines)
    assert status == 2
    assert len(out.splitlines()) == 32  # what came before is there
    assert err.startswith("transformer: Line 41: The text has")
    assert is_one_sentence(err.removesuffix("\n"))
