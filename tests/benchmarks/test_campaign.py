"""The campaign itself: what it calls bad, what it prints, and that its inputs can be made."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from benchmarks.campaign.damages import made_damages
from benchmarks.campaign.outcome import Outcome
from benchmarks.campaign.worker import Worker

from benchmarks.__main__ import main
from benchmarks.campaign import configurations, damages, entrances, hostile_arguments, worker
from headlight.__main__ import COMMANDS
from tests.benchmarks.misbehaviour import misbehave
from training.config import Recipe
from transformer import CheckpointError, TransformerConfig
from transformer.checkpoints import checkpoint


@pytest.mark.timeout(120)
def test_a_worker_outlives_what_its_task_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "SECONDS", 2.0)
    # a new process runs this one's main script, which may be that of another test
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    with Worker(misbehave) as ours:
        assert ours.call("fine").value == "fine"
        assert "KeyError: 'not ours'" in ours.call("raise").failure
        assert "MemoryError" in ours.call("fill").failure
        assert ours.call("die").failure == "the process ended with 7"
        assert ours.call("hang").failure == "nothing for 2 s"
        assert ours.call("fine again").value == "fine again"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> list[Outcome]:
    """The outcomes of an entrance that is named `text`."""
    outcomes = [
        Outcome("text", "one", "accepted", seconds=0.5),
        Outcome("text", "two", "refused", "It is too long.", megabytes=3),
    ]

    def run(count: int, seed: int) -> Iterator[Outcome]:
        return itertools.islice(outcomes, count)

    monkeypatch.setattr(entrances, "import_module", lambda _: SimpleNamespace(run=run))
    return outcomes


def test_what_was_bad_is_counted_named_and_the_exit_status(
    fake: list[Outcome], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["campaign", "--entrance", "text", "--count", "9"]
    assert main(arguments) == 0
    assert "| text | 2 | 1 | 1 | 0 | 0.5 s | 3 MB |" in capsys.readouterr().out
    fake.append(Outcome("text", "three", "bad", "KeyError"))
    assert main(arguments) == 1
    assert capsys.readouterr().out.endswith("bad: text: three: KeyError\n")
    assert main([*arguments, "--json"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["verdict"] for line in lines] == ["accepted", "refused", "bad"]


def test_every_damage_can_be_done_and_is_refused_or_meant_to_be_accepted(
    checkpoint_folder: Path, tmp_path: Path
) -> None:
    whole = tmp_path / "whole"
    loaded = checkpoint.load(checkpoint_folder)
    extra = {"MODEL_CARD.md": "# A model\n", "run.jsonl": '{"step": 1}\n'}
    checkpoint.save(whole, loaded.model, loaded.tokenizer, extra=extra)
    damages = list(itertools.islice(made_damages(random.Random(1)), 900))
    assert len({damage.name for damage in damages}) > 600
    for damage in damages[::15]:
        copy = Path(shutil.copytree(whole, tmp_path / "copy"))
        damage.do(copy)
        try:
            checkpoint.load(copy / damage.at)
            assert damage.accepted != "no", damage.name
        except CheckpointError:
            pass
        shutil.rmtree(copy)


def test_every_command_and_field_is_tried() -> None:
    tried = hostile_arguments._VALID.keys()
    assert {name.split()[0] for name in tried} == COMMANDS.keys()
    assert tried == hostile_arguments._OPTIONS.keys()
    assert {field.name for field in dataclasses.fields(Recipe)} < {*configurations.TRAINING}
    model = {field.name for field in dataclasses.fields(TransformerConfig)}
    assert model < {*configurations.MODEL}
    assert model < {*damages.FIELDS}


def test_configurations_that_are_tried_are_accepted_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    tables = [("model", name) for name in configurations.MODEL]
    tables += [("training", name) for name in configurations.TRAINING]
    chosen = random.Random(1)
    for _ in range(100):
        name, content = configurations._mixture(chosen, tables)
        path.write_bytes(content)
        assert configurations._load(str(path))[0] in ("accepted", "refused"), name
