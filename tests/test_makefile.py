"""Commands of `make`: the configuration that fits the machine, and the rows without a result."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="needs make")

GPU = "GPU 0: NVIDIA H200 (UUID: GPU-0)"
NO_DRIVER = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."


def make(*arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run make with the programs of a folder before all others."""
    search = os.pathsep.join(filter(None, [str(path or ""), os.environ["PATH"]]))
    return subprocess.run(
        ["make", "--no-print-directory", *arguments], cwd=ROOT, env={**os.environ, "PATH": search},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("says", "arguments", "config"),
    [
        (GPU, (), "demo.toml"),
        (NO_DRIVER, (), "demo-cpu.toml"),
        ("", (), "demo-cpu.toml"),
        (GPU, ("CONFIG=base.toml",), "base.toml"),
    ],
)
def test_train_takes_the_configuration_that_fits(tmp_path, says, arguments, config) -> None:
    smi = tmp_path / "nvidia-smi"
    smi.write_text(f'#!/bin/sh\necho "{says}"\n')
    smi.chmod(0o755)
    printed = make("-n", "train", "DATA=text", *arguments, path=tmp_path).stdout
    assert printed.splitlines()[-1].endswith(
        f"-m headlight train --config {config} --data text --out runs/demo"
    )


def test_training_without_text_says_how_to_get_some() -> None:
    ended = make("data-given")
    assert ended.returncode == 2
    assert "DATA=dir" in ended.stderr
    assert "headlight download multi30k --out dir" in ended.stderr


def test_rows_are_trained_one_after_the_other_where_there_is_no_result() -> None:
    commands = make("-n", "rows", "DATA=text").stdout.splitlines()
    trained = [line.split("rows/")[1].split(".toml")[0] for line in commands if "--config" in line]
    rows = {path.stem for path in ROOT.glob("training/configs/rows/*.toml")}
    results = {path.parent.name for path in ROOT.glob("assets/rows/*/run.jsonl")}
    assert sorted(trained) == sorted(rows - results)
    assert {"sinusoidal", "learned"} <= results
    assert make("-n", "assets/rows/new/run.jsonl", "DATA=text").stdout.splitlines()[-3:] == [
        ".venv/bin/python -m headlight train --config rows/new.toml --data text "
        "--out runs/rows/new ",
        "mkdir -p assets/rows/new",
        "cp runs/rows/new/averaged/config.json runs/rows/new/averaged/run.jsonl assets/rows/new",
    ]
