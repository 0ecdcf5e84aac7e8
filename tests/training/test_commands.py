"""The commands of training are those of headlight, and need its extra."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["training.train"], "run headlight --help."),
        (["training.download"], "run headlight --help."),
        (["headlight", "train"], "run pip install 'headlight-attention[train]'."),
    ],
)
def test_a_command_that_cannot_be_run_says_what_to_run(words, says) -> None:
    bare = [sys.executable, "-S", "-m", *words]  # -S: without site-packages
    ran = subprocess.run(bare, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("headlight: ")
    assert ran.stderr.endswith(f"{says}\n")
    assert ran.stderr.count("\n") == 1
