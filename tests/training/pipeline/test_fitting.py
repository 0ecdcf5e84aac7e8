"""Steps that fit into a time."""

from __future__ import annotations

from pathlib import Path

from tests.training.conftest import RECIPE
from training.config import RunConfig
from training.pipeline.fitting import fitting_steps, shorten
from training.runlog import Record


def log(seconds: dict[int, float], steps: int = 1_000) -> list[Record]:
    logged: list[Record] = [{"step": n, "loss": 1.0, "seconds": at} for n, at in seconds.items()]
    return [{"step": 0, "steps": steps}, *logged]


def test_a_run_gets_the_steps_that_its_speed_allows() -> None:
    # 30 s until step 10, for a compiler is slow; then 5 steps a second
    records = log({10: 30.0, 20: 32.0, 60: 40.0})
    records.insert(1, {"step": 10, "validation_loss": 2.0})
    # of 50 s, 15 are for the second start; on a long part that is 40 s
    assert fitting_steps(records, seconds=100, passed=50) == 60 + int(0.85 * 35 * 5)
    long = log({10: 30.0, 560: 140.0}, steps=9_000)
    assert fitting_steps(long, seconds=1_000, passed=160) == 560 + int(0.85 * 800 * 5)
    assert fitting_steps(records, seconds=100, passed=120) == 60  # it ends at once
    assert fitting_steps(records[:3], seconds=100, passed=31) is None
    # 10 s tell too little of it
    assert fitting_steps(records, seconds=1_000, passed=50) is None


def test_a_run_that_ends_in_time_as_it_is_keeps_its_steps() -> None:
    # 50 s are left, of which none is for a second start that there will not be
    ends = 60 + int(0.85 * 50 * 5)
    for steps, fitting in ((ends, ends), (ends + 1, 60 + int(0.85 * 35 * 5))):
        records = log({10: 30.0, 60: 40.0}, steps)
        assert fitting_steps(records, seconds=100, passed=50) == fitting


def test_a_run_that_went_on_is_as_fast_as_it_is_since_then() -> None:
    # step 70 was compiled anew, for 60 s; then 5 steps a second, as before
    records = log({10: 30.0, 60: 40.0, 70: 100.0, 120: 110.0})
    fitting = 120 + int(0.85 * 15 * 5)
    assert fitting_steps(records, seconds=100, passed=70, after=60) == fitting
    assert fitting_steps(records[:4], seconds=100, passed=61, after=60) is None


def test_a_shorter_run_has_a_shorter_cooldown_and_is_otherwise_the_same(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(RECIPE.replace("steps = 24", "steps = 24\ncooldown = 8"))
    before = RunConfig.load(path).to_dict()
    assert not shorten(path, 24)
    assert RunConfig.load(path).to_dict() == before
    assert shorten(path, 12)
    before["training"] |= {"steps": 12, "cooldown": 4}
    assert RunConfig.load(path).to_dict() == before
