"""What is wrong with a command is one sentence on standard error and exit status 2."""

from pathlib import Path

import pytest

from training.train import main


def _error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err
    return printed.err


def test_files_of_different_length(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("train.en", "valid.en", "valid.de"):
        (tmp_path / name).write_text((data / name).read_text())
    (tmp_path / "train.de").write_text("Nur eine Zeile.\n")
    command = ["--config", str(recipe), "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert "each line must stand beside its translation" in _error(command, capsys)


def test_heads_that_do_not_divide(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe.write_text(recipe.read_text().replace("h = 2", "h = 3"))
    command = ["--config", str(recipe), "--data", str(data), "--out", str(tmp_path / "out")]
    assert "d_model = 32 cannot be divided among h = 3 heads" in _error(command, capsys)


def test_a_vocabulary_larger_than_the_text(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe.write_text(recipe.read_text().replace("vocab_size = 120", "vocab_size = 9000"))
    command = ["--config", str(recipe), "--data", str(data), "--out", str(tmp_path / "out")]
    assert "No vocabulary of 9000 pieces" in _error(command, capsys)


def test_missing_files(recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["--config", str(recipe), "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert "train.en cannot be read" in _error(command, capsys)
