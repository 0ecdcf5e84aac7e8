"""Plans as files: what comes along is valid, and what cannot be meant is refused in a sentence."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from training.config import RunConfig
from training.data.folders import DataFolder
from training.pipeline.parts import Evaluate, Rows, Train
from training.pipeline.place import Place
from training.pipeline.plan import load
from transformer.errors import ConfigError

GPU = Path(__file__).parents[3] / "training" / "configs" / "gpu"


@pytest.mark.parametrize("name", ["forty-minutes", "half-hour", "tiny"])
def test_a_plan_that_comes_along_names_files_that_are_there(name: str, tmp_path: Path) -> None:
    place = Place(GPU, tmp_path, (DataFolder(tmp_path),))
    parts = load(GPU / f"{name}.toml")
    files = [path for part in parts for path in part.configurations(place)]
    assert [RunConfig.load(path) for path in files]


@pytest.mark.parametrize(
    ("name", "teachers", "minutes"),
    [
        ("forty-minutes", ["teacher-1", "teacher-2", "teacher-3", "reversed-1", "reversed-2"], 26),
        ("half-hour", ["teacher-1", "reversed-1"], 16),
    ],
)
def test_a_plan_holds_what_it_promises(name: str, teachers: list[str], minutes: int) -> None:
    parts = load(GPU / f"{name}.toml")
    kinds = [type(part).__name__ for part in parts]
    assert kinds[0] == "Benchmark"
    assert ("Rows" in kinds[-1:]) == (name == "forty-minutes")  # what is cut first
    assert kinds.count("Translate") == len(teachers)
    # the trainings; the others take the rest
    assert sum(part.minutes for part in parts) <= minutes
    trainings = [part for part in parts if isinstance(part, Train)]
    assert [part.name for part in trainings] == [*teachers, "student"]
    # a run that is cut has figures of every model that it has
    measured = {
        part.models: before.name for before, part in pairwise(parts) if isinstance(part, Evaluate)
    }
    forward = [part.name for part in trainings if not part.name.startswith("reversed")]
    assert measured == {(model,): model for model in forward}


TRAIN = '[[part]]\nname = "a"\nkind = "train"\nconfig = "c.toml"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "write a table [[part]]"),
        ("[[part]", "not valid TOML"),
        ('[part]\nname = "a"', "write a table [[part]]"),
        ("[more]\n" + TRAIN, "write a table [[part]]"),
        ('[[part]]\nname = "../a"\nkind = "train"', "has the name '../a'"),
        ('[[part]]\nname = "text"\nkind = "train"', "has the name 'text'"),
        ('[[part]]\nname = "a"\nkind = "rest"', "kind = 'rest' must be one of benchmark"),
        ('[[part]]\nname = "a"\nkind = "train"', "needs config"),
        (TRAIN + "seed = true", "seed = True must be a number above 0"),
        (TRAIN + "minutes = -1", "minutes = -1 must be a number above 0"),
        (TRAIN + 'direction = "back"', "must be one of forward, reversed"),
        (TRAIN + 'data = "text"', "must be a list"),
        (TRAIN + 'data = ["text:0"]', "weight"),
        (TRAIN + 'data = ["b"]', "needs 'b', which no part before it makes"),
        (TRAIN + "beam = 4", "has no field 'beam'"),
        (TRAIN + TRAIN, "Two parts are called a"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as error:
        load(path)
    assert said in str(error.value)
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "missing.toml")


def test_patterns_of_rows_give_each_file_once_and_what_gives_none_is_named(tmp_path: Path) -> None:
    place = Place(tmp_path / "plans", tmp_path / "out", (DataFolder(tmp_path),))
    for name in ("plans/b.toml", "plans/rows/a.toml", "rows/a.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    def found(*patterns: str) -> list[Path]:
        return Rows(name="r", configs=patterns).configurations(place)

    both = [place.plan / "b.toml", place.plan / "rows" / "a.toml"]
    assert found("b.toml", "rows/*.toml", "*.toml", "rows/../b.toml") == both
    with pytest.raises(ConfigError, match=r"rows/a\.toml and .*/a\.toml would both be the row a"):
        found("rows/*.toml", "../rows/*.toml")
    with pytest.raises(ConfigError, match=r"no file is called 'c\.toml'"):
        found("b.toml", "c.toml")
    for odd in ("/rows/*.toml", "", ".", "a" * 999):
        with pytest.raises(ConfigError, match="is no pattern of files beside the plan"):
            found(odd)


def test_names_of_text_are_folders_with_their_weights(tmp_path: Path) -> None:
    for language, line in (("en", "A dog."), ("de", "Ein Hund.")):
        (tmp_path / f"train.{language}").write_text(line + "\n")
    data = (DataFolder(tmp_path, 2.0), DataFolder(Path("more")))
    place = Place(GPU, tmp_path / "out", data)
    part = str(tmp_path / "out" / "b" / "run")
    assert place.arguments(["text:0.5", "b", "first"]) == [
        str(tmp_path), "more:0.5", part, f"{tmp_path}:2",
    ]  # fmt: skip
    swapped, weight = place.arguments(["first"], swapped=True)[0].rsplit(":", 1)
    assert weight == "2"
    assert Path(swapped, "train.en").read_text() == "Ein Hund.\n"
    assert Path(swapped, "train.de").read_text() == "A dog.\n"
    assert place.arguments(["first"], swapped=True) == [f"{swapped}:2"]  # once more, as it was
