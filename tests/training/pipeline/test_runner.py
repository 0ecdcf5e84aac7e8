"""Carrying a plan out: its order, its end in time, and what fails."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.training.conftest import RECIPE
from training.config import RunConfig
from training.data.folders import DataFolder
from training.pipeline.parts import Evaluate, Job, Part, Train
from training.pipeline.place import Place
from training.pipeline.runner import Runner
from transformer.errors import ConfigError

pytestmark = pytest.mark.usefixtures("_one_fork_server")

MODULE = "tests.training.pipeline.jobs"


@dataclass(frozen=True, kw_only=True)
class Made(Part):
    """A part whose jobs are those of `jobs`."""

    what: tuple[str, ...]
    after: tuple[str, ...] = ()

    def needs(self) -> tuple[str, ...]:
        return self.after

    def stages(self, place: Place) -> list[list[Job]]:
        folder = place.folder(self.name)
        jobs = []
        for number, what in enumerate(self.what):
            product, written = folder / str(number), folder / f"{number}.written"
            if what == "train":
                run = folder / f"run-{number}"
                config = run / "config.toml"
                if not config.exists():
                    run.mkdir(parents=True)
                    config.write_text(RECIPE.replace("steps = 24", "steps = 1_000_000"))
                jobs.append(Job(str(number), MODULE, (what, str(run)), product, True, run, config))
            elif what == "work":  # the product is what it prints
                jobs.append(
                    Job(str(number), MODULE, (what, str(written)), product, takes_output=True)
                )
            else:
                jobs.append(Job(str(number), MODULE, (what, str(written)), product))
        return [jobs]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, tmp_path / "out", (DataFolder(tmp_path),))


def test_a_part_that_fails_stops_only_those_that_need_it(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [
        Made(name="a", what=("work",)),
        Made(name="b", what=("fail",)),
        Made(name="c", what=("work",), after=("b",)),
        Made(name="d", what=("work", "work"), after=("a",), beside=2),
    ]
    runner = Runner(place, parts)
    assert runner.run() == 2
    assert runner.failed == ["b", "c"]
    said = capsys.readouterr().out
    assert "b: failed: jobs: this cannot work." in said
    assert "c: failed: it needs b" in said
    assert (place.out / "d" / "1").read_text() == "work\n"
    written = (place.out / "a" / "0.written").stat().st_mtime_ns

    again = Runner(place, [parts[0], parts[3]])
    assert again.run() == 2  # as they were
    assert capsys.readouterr().out == ""
    assert (place.out / "a" / "0.written").stat().st_mtime_ns == written
    with pytest.raises(ConfigError, match="a was done with another plan, or with other --data"):
        Runner(place, [parts[3], Made(name="a", what=("work", "work"))]).run()
    faster = [Made(name="a", what=("work",), minutes=4.5, beside=2)]
    assert Runner(place, faster).run() == 1


def test_a_part_is_done_on_the_texts_of_its_own_and_of_what_it_needs(
    tmp_path: Path,
) -> None:
    parts = [
        Train(name="first", config="c.toml", data=("first",)),
        Train(name="all", config="c.toml", data=("text:2", "first")),
        Evaluate(name="measured", models=("all",)),
    ]
    (tmp_path / "c.toml").write_text(RECIPE)
    one, two, three = (DataFolder(tmp_path / name, 2.0) for name in ("one", "two", "three"))
    out = tmp_path / "out"
    for product in (*(f"{name}/run/averaged/MANIFEST.json" for name in ("first", "all")),
                    "measured/all-dev.json"):  # fmt: skip
        (out / product).parent.mkdir(parents=True)
        (out / product).touch()  # nothing is left to do

    def done(data: tuple[DataFolder, ...], *held_out: str) -> dict[str, bool]:
        place = Place(tmp_path, out, data, tuple(map(Path, held_out)))
        runner, found = Runner(place, parts), {}
        for part in parts:
            try:
                found[part.name] = runner.is_done(part)
            except ConfigError:
                found[part.name] = False
        return found

    assert Runner(Place(tmp_path, out, (one, two), (Path("dev"),)), parts).run() == 3
    assert all(done((one, two), "dev").values())
    assert done((one, three), "dev") == {"first": True, "all": False, "measured": False}
    lighter = DataFolder(two.path)
    assert done((one, lighter), "dev") == {"first": True, "all": False, "measured": False}
    assert done((one, two), "dev", "test") == {"first": True, "all": True, "measured": False}
    assert done((one, two), "other/dev") == {"first": True, "all": True, "measured": False}


def test_trainings_that_follow_each_other_share_the_time_of_their_part(place: Place) -> None:
    assert Runner(place, [Made(name="a", what=("train",) * 3, beside=2, minutes=4)]).run() == 1
    for number in range(3):
        steps = RunConfig.load(place.out / "a" / f"run-{number}" / "config.toml").recipe.steps
        # 1,010 when the speed is known; of the 120 s, 18 for the second start and some until then
        assert 1_010 + 0.85 * 10 * 82 < steps < 1_010 + 0.85 * 10 * 102


def test_a_training_that_goes_on_is_fitted_by_its_speed_since_then(place: Place) -> None:
    parts = [Made(name="a", what=("train",), minutes=4)]
    parts[0].stages(place)
    run = place.out / "a" / "run-0"
    (run / "run.jsonl").write_text('{"step": 90, "loss": 1, "seconds": 90}\n')
    assert Runner(place, parts).run() == 1
    steps = RunConfig.load(run / "config.toml").recipe.steps
    assert 1_100 + 0.85 * 10 * 184 < steps < 1_100 + 0.85 * 10 * 204


def test_what_runs_is_stopped_in_order_when_the_time_is_over(place: Place) -> None:
    waiting = Made(name="a", what=("wait", "wait", "stay"), beside=3)
    parts = [waiting, Made(name="b", what=("work",))]
    folder = place.out / "a"
    runner = Runner(place, parts, time.monotonic() + 1_000)

    def end_soon() -> None:
        while len(list(folder.glob("*.began"))) < 3:
            time.sleep(0.01)
        runner.kill_at = time.monotonic() + 1.5
        runner.stop_at = time.monotonic() + 0.1

    threading.Thread(target=end_soon, daemon=True).start()
    assert runner.run() == 0
    assert 0 <= time.monotonic() - runner.kill_at < 10  # what does not stop is not waited for
    assert not runner.failed
    assert (folder / "0.written").exists()  # SIGTERM came, and was waited for
    assert (folder / "1.written").exists()
    assert not (folder / "done.json").exists()
    assert not (place.out / "b").exists()
