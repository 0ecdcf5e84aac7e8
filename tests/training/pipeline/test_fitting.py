"""Steps that fit into a time."""

from __future__ import annotations

from pathlib import Path

from tests.training.conftest import RECIPE
from training.config import RunConfig
from training.pipeline.fitting import fitting_steps, shorten
from training.runlog import Record


def log(seconds: dict[int, float]) -> list[Record]:
    return [{"step": step, "loss": 1.0, "seconds": at} for step, at in seconds.items()]


def test_a_run_gets_the_steps_that_its_speed_allows() -> None:
    # 30 s until step 10, for a compiler is slow; then 5 steps a second
    records = log({10: 30.0, 20: 32.0, 60: 40.0})
    records.insert(1, {"step": 10, "validation_loss": 2.0})
    # of 50 s, 15 are for the second start; on a long part that is 40 s
    assert fitting_steps(records, seconds=100, passed=50) == 60 + int(0.85 * 35 * 5)
    long = log({10: 30.0, 560: 140.0})
    assert fitting_steps(long, seconds=1_000, passed=160) == 560 + int(0.85 * 800 * 5)
    assert fitting_steps(records, seconds=100, passed=120) == 60  # it ends at once
    assert fitting_steps(records[:2], seconds=100, passed=31) is None
    assert fitting_steps(records, seconds=1_000, passed=50) is None  # 10 s tell too little of it


def test_a_shorter_run_has_a_shorter_cooldown_and_is_otherwise_the_same(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(RECIPE.replace("steps = 24", "steps = 24\ncooldown = 8"))
    before = RunConfig.load(path).to_dict()
    assert not shorten(path, 24)
    assert RunConfig.load(path).to_dict() == before
    assert shorten(path, 12)
    before["training"] |= {"steps": 12, "cooldown": 4}
    assert RunConfig.load(path).to_dict() == before
