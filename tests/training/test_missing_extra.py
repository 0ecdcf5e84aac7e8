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
        "headlight: training needs tqdm, which is not installed: "
        "run pip install 'headlight-attention[train]'.\n"
    )
