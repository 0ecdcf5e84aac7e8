"""The command `evaluate lines`: a file that holds what was measured, and a table of it."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from training.evaluate import main
from transformer.corpus import result_file
from transformer.corpus.measured import ALIGNMENT_ERROR, COST, LEAST_USED, UNLINKED
from transformer.corpus.measuring import measure_lines

LINES = ["The dog waits.", "", "Her horse eats.", "The dog. " * 200]
TARGETS = ["Der Hund wartet.", "Leer.", "Ihr Pferd frisst.", "Der Hund."]
WORDLESS = [".", "..", ". ."]
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


def test_a_line_without_a_word_spoils_no_other(folder, translator, capsys) -> None:
    (folder / "src").write_text("\n".join([*WORDLESS, LINES[0], "Her"]) + "\n", "utf-8")
    targets = [*WORDLESS, TARGETS[0], "."]
    (folder / "tgt").write_text("\n".join(targets) + "\n", "utf-8")
    (folder / "gold").write_text("0-0\n" * len(targets), "utf-8")
    assert run(folder, tgt="tgt", gold="gold", out="result") == 0
    printed = capsys.readouterr()
    lines = result_file.from_bytes((folder / "result").read_bytes(), translator)
    assert [pair.target for pair in lines.pairs] == targets
    count = len(WORDLESS)
    undefined = {LEAST_USED: [*range(count)], UNLINKED: [*range(count), count + 1]}
    for name, values in lines.sentence_values.items():
        assert np.flatnonzero(np.isnan(values)).tolist() == undefined.get(name, []), name
    alone = measure_lines(translator, LINES[:1], targets=TARGETS[:1], gold=["0-0"])
    for name, values in alone.sentence_values.items():
        assert lines.sentence_values[name][count] == pytest.approx(values[0], rel=1e-5), name
    for name, heads in alone.head_values.items():
        missing = np.isnan(heads).repeat(len(lines), 0)
        assert (np.isnan(lines.head_values[name]) == missing).all(), name
    notes = Counter(re.findall(r"line (\d+):", printed.err))
    assert notes == {**{str(n + 1): 2 for n in range(count)}, str(count + 2): 1}
    assert re.findall(r"\d+", printed.out.splitlines()[0]) == [str(count + 2), "0", str(count + 1)]
