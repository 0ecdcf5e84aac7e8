"""A training command whose extra is not installed says what to install."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["train", "download"])
def test_a_command_whose_extra_is_not_installed_says_what_to_install(name: str) -> None:
    bare = [sys.executable, "-S", "-m", f"training.{name}"]  # -S: without site-packages
    ran = subprocess.run(bare, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "training needs tqdm, which is not installed: "
        "run pip install 'headlight-attention[train]'.\n"
    )


def test_so_does_one_where_a_part_of_the_extra_is_there(tmp_path: Path) -> None:
    (tmp_path / "tqdm.py").touch()
    ran = subprocess.run(
        [sys.executable, "-S", "-m", "training.train"],
        cwd=ROOT, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 2
    assert ran.stderr.startswith("training needs sacrebleu, which is not installed: run pip ")
