"""The tiny plan from end to end, killed in the middle; and what --minutes do to a run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.training.conftest import RECIPE
from training import runlog
from training.config import RunConfig
from training.corpus import encode, read_parallel
from training.pipeline.__main__ import main
from training.validation import mean_loss
from transformer import checkpoint
from transformer.analysis.paper.learned_positions import learned_positions
from viz.app import trained_rows

pytestmark = pytest.mark.usefixtures("_one_fork_server")

ROOT = Path(__file__).parents[3]
GPU = ROOT / "training" / "configs" / "gpu"
ABSENT = (
    "streamlit", "plotly", "altair", "pandas", "cachetools", "sacremoses", "pooch", "playwright",
)  # fmt: skip
"""What a machine that only computes need not have."""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """That of a machine without what only the app, downloads and tests need."""
    (tmp_path / "absent").mkdir()
    for name in ABSENT:
        (tmp_path / "absent" / f"{name}.py").write_text(f"raise ImportError('no {name} here')\n")
    return {**os.environ, "PYTHONPATH": str(tmp_path / "absent")}


def has_processes(group: int) -> bool:
    """Whether any process of a group is left."""
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


@pytest.mark.timeout(400)
def test_the_tiny_plan_killed_and_called_again_makes_every_part(
    data: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    out = tmp_path / "out"
    words = [sys.executable, "-m", "training.pipeline", str(GPU / "tiny.toml")]
    words += ["--data", str(data), "--out", str(out)]
    with subprocess.Popen(words, cwd=ROOT, env=environment, process_group=0) as killed:
        saved = out / "reversed-1" / "run" / "checkpoints" / "step-00000008"
        while killed.poll() is None and not saved.exists():
            time.sleep(0.005)
        killed.send_signal(signal.SIGKILL)
    # in which the training would come to its end, if it had outlived the plan
    end = time.monotonic() + 1.5
    while has_processes(killed.pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert not (out / "reversed-1" / "run" / "averaged").exists()
    assert not (out / "reversed-1" / "done.json").exists()
    teacher = (out / "teacher-1" / "run" / "averaged" / "MANIFEST.json").stat().st_mtime_ns

    called = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (called.returncode, called.stderr) == (0, "")
    assert called.stdout.startswith("reversed-1: begins, part 4 of 9")
    assert "Done: all 9 parts" in called.stdout
    assert (out / "teacher-1" / "run" / "averaged" / "MANIFEST.json").stat().st_mtime_ns == teacher
    assert "--resume" in (out / "reversed-1" / "output.txt").read_text("utf-8")
    steps = [
        r["step"] for r in runlog.read(out / "reversed-1" / "run" / "run.jsonl") if "loss" in r
    ]
    assert steps == [4, 8, 12, 16, 20, 24]

    # the reversed model reads German and writes English, and so does its text
    reversed_model = checkpoint.load(out / "reversed-1" / "run" / "averaged")
    there, back = (
        read_parallel(data / "valid"),
        read_parallel(out / "swapped" / "0-data0" / "valid"),
    )
    losses = [
        mean_loss(reversed_model.model, encode(text, reversed_model.tokenizer, 100))
        for text in (back, there)
    ]
    assert losses[0] < losses[1] - 0.3
    original, made = (
        read_parallel(data / "train"),
        read_parallel(out / "text-of-reversed-1/run/train"),
    )
    assert set(made.target) <= set(original.target)
    assert not set(made.source) & set(original.target)

    figures = json.loads((out / "measured" / "student-valid.json").read_text("utf-8"))
    assert figures["sentences"] == 20
    assert {"bleu", "chrf", "perplexity"} <= figures.keys()
    assert "| demo, N = 1" in (out / "throughput" / "table.md").read_text("utf-8")
    rows, wrong = trained_rows.read_all(out / "rows" / "rows")
    assert not wrong
    assert [row.name for row in rows] == ["tiny-row-learned", "tiny-row-sinusoidal"]
    assert trained_rows.changes(rows[0], rows[1]) == {"positions": "learned"}
    assert learned_positions(out / "rows" / "rows" / "tiny-row-learned").encoder.shape == (64, 32)


def plan(folder: Path, part: str) -> Path:
    """A plan of one endless run."""
    (folder / "endless.toml").write_text(RECIPE.replace("steps = 24", "steps = 1_000_000"), "utf-8")
    path = folder / "plan.toml"
    head = '[[part]]\nname = "a"\nkind = "train"\nconfig = "endless.toml"\n'
    path.write_text(head + part, "utf-8")
    return path


def test_a_call_ends_in_its_minutes_and_the_next_goes_on_with_what_fits_into_the_part(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["--data", str(data), "--out", str(out)]
    began = time.monotonic()
    assert main([str(plan(tmp_path, "")), *words, "--minutes", "0.08"]) == 0
    assert time.monotonic() - began < 30  # of a run without end
    assert "Stopped: 0 of 1 parts are done" in capsys.readouterr().out
    state = json.loads((out / "a" / "run" / "state" / "state.json").read_text("utf-8"))
    assert not (out / "a" / "fitted").exists()

    assert main([str(plan(tmp_path, "minutes = 0.03\n")), *words]) == 0
    assert "a: shortened to" in capsys.readouterr().out
    steps = RunConfig.load(out / "a" / "config.toml").recipe.steps
    assert state["place"]["step"] < steps < 500_000
    assert (out / "a" / "run" / "averaged" / "MANIFEST.json").exists()
    logged = [int(record["step"]) for record in runlog.read(out / "a" / "run" / "run.jsonl")]
    assert max(logged) >= steps


def test_what_is_missing_is_said_before_anything_begins(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(GPU / "tiny.toml"), "--out", str(tmp_path / "out"), "--data"]
    assert main([*words, str(tmp_path)]) == 2
    assert "train.en is missing" in capsys.readouterr().err
    assert main([*words, str(data), "--held-out", str(data / "test")]) == 2
    assert "test.en is missing" in capsys.readouterr().err
    shutil.copy(data / "train.en", tmp_path)
    shutil.copy(data / "train.de", tmp_path)
    assert main([*words, str(tmp_path), "--held-out", str(data / "valid")]) == 2
    assert "valid.en is missing" in capsys.readouterr().err
    (tmp_path / "val.en").touch()
    assert main([*words, str(tmp_path), str(data), "--held-out", str(data / "valid")]) == 2
    assert "val.de is missing" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
