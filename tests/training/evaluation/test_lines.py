"""The command `evaluate lines`: a file that holds what was measured, and a table of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from training.evaluate import main
from transformer.analysis.lines import result_file
from transformer.analysis.lines.measured import ALIGNMENT_ERROR, COST
from transformer.analysis.lines.measuring import measure_lines

LINES = ["The dog waits.", "", "Her horse eats.", "The dog. " * 200]
TARGETS = ["Der Hund wartet.", "Leer.", "Ihr Pferd frisst.", "Der Hund."]
GOLD = ["0-0 1-1", "0-0", "0-0 2p2", "0-0"]


@pytest.fixture
def folder(tmp_path: Path, checkpoint_folder: Path) -> Path:
    shutil.copytree(checkpoint_folder, tmp_path / "model")
    for name, lines in (("src", LINES), ("tgt", TARGETS), ("gold", GOLD)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


def run(folder: Path, *more: str, **files: str) -> int:
    paths = {"checkpoint": "model", "src": "src", **files}
    options = [text for name, path in paths.items() for text in (f"--{name}", str(folder / path))]
    return main(["lines", *options, *more])


def test_the_file_and_the_table_are_what_was_measured(folder, translator, capsys) -> None:
    assert run(folder, "--json", tgt="tgt", ref="tgt", gold="gold", out="result") == 0
    printed = capsys.readouterr()
    lines = result_file.from_bytes((folder / "result").read_bytes(), translator)
    expected = measure_lines(translator, LINES, targets=TARGETS, references=TARGETS, gold=GOLD)
    assert (lines.pairs, lines.left_out) == (expected.pairs, expected.left_out)
    assert [number for number, _ in lines.left_out] == [2, 4]
    assert "line 2 is left out" in printed.err
    assert "line 4 is left out" in printed.err
    rows = json.loads(printed.out)
    assert len(rows) == len(lines.heads)
    mean = lines.head_values[ALIGNMENT_ERROR][:, -1].mean()
    assert rows[-1][ALIGNMENT_ERROR] == pytest.approx(mean, abs=1e-6)
    assert run(folder, "--no-costs") == 0
    stored = (folder / "model" / result_file.FILE).read_bytes()
    again = result_file.from_bytes(stored, translator)
    assert COST not in again.head_values
    assert "2 lines, 2 left out" in capsys.readouterr().out


@pytest.mark.parametrize(
    "files",
    [{"src": "none"}, {"ref": "short"}, {"src": "empty"}, {"tgt": "tgt", "gold": "wrong"},
     {"out": "none/result"}],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(folder, capsys, files) -> None:
    (folder / "short").write_text("Der Hund.\n")
    (folder / "empty").write_text("\n\n")
    (folder / "wrong").write_text("0-0\n0-0\n0-7\n0-0\n")
    before = sorted(folder.rglob("*"))
    assert run(folder, "--no-costs", **files) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert error.count("\n") == 1
    assert sorted(folder.rglob("*")) == before
