"""A run that a signal stopped goes on as if it had not been, to the bit, in another process too."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
import torch

from tests.training.conftest import RECIPE
from tests.training.runs import (
    command,
    forkserver,
    log_without_times,
    main_stopped_at,
    same_weights,
    weights,
)
from training.devices import ProcessInfo
from training.train import main

NEVER, STOPPED_AT = 10**9, 38  # between two lines of the log, and between two saved states


def everything_random() -> str:
    """A recipe with all that draws random numbers; an epoch has about 20 updates."""
    options = "r_drop = 5.0\nbpe_dropout = 0.2\nmicro_batch_tokens = 90"
    changes = {"steps = 24": "steps = 48", "log_every = 4": "log_every = 7",
               "save_every = 8": "save_every = 16", "validate_every = 12": "validate_every = 20",
               "[training]": f"[training]\n{options}"}  # fmt: skip
    recipe = RECIPE
    for old, new in changes.items():
        assert old in recipe
        recipe = recipe.replace(old, new)
    return recipe


def in_processes(runs: list[tuple[int, list[str]]]) -> None:
    """Run training.train side by side, each in a process of its own, with its step of SIGTERM."""
    context = forkserver()
    processes = [context.Process(target=main_stopped_at, args=run) for run in runs]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(runs)


def written(out: Path) -> dict[str, object]:
    """All that a run leaves behind, apart from times."""
    result: dict[str, object] = {"log": log_without_times(out)}
    for path in sorted(out.rglob("*.safetensors")):
        if "state.before" not in path.parts:  # of the last save, or of the stop
            result[str(path.relative_to(out))] = hashlib.sha256(path.read_bytes()).hexdigest()
    state = json.loads((out / "state" / "state.json").read_text("utf-8"))
    place = {name: v for name, v in state["place"].items() if "seconds" not in name}
    return {**result, "place": place}


@pytest.mark.timeout(300)
def test_a_stopped_run_goes_on_in_another_process_to_the_same_bits_and_log(
    data: Path, recipe: Path, tmp_path: Path
) -> None:
    recipe.write_text(everything_random(), "utf-8")
    data = Path(f"{data}:0.7")  # drawn anew in each epoch
    whole, stopped, again = (tmp_path / name for name in ("whole", "stopped", "again"))
    in_processes([(STOPPED_AT, command(recipe, data, stopped))])
    place = json.loads((stopped / "state" / "state.json").read_text("utf-8"))["place"]
    assert (place["step"], place["epoch"]) == (STOPPED_AT, 1)
    assert place["unlogged_tokens"] > 0
    shutil.copytree(stopped, again)
    in_processes([(NEVER, command(recipe, data, out, "--resume")) for out in (stopped, again)])
    assert main(command(recipe, data, whole)) == 0
    expected = written(whole)
    assert len(expected["log"]) == 11  # type: ignore[arg-type]
    assert written(stopped) == expected
    assert written(again) == expected


def test_a_run_keeps_the_order_of_its_text_on_a_device_that_pads_otherwise(
    data: Path, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, moved = tmp_path / "whole", tmp_path / "moved"
    with monkeypatch.context() as on_gpu:
        on_gpu.setattr(ProcessInfo, "length_multiple", 8)
        assert main(command(recipe, data, whole, "--steps", "8")) == 0
        assert main(command(recipe, data, moved, "--steps", "4")) == 0
    assert ProcessInfo(torch.device("cpu")).length_multiple == 1
    for steps in ("6", "8"):  # and is moved once more
        assert main(command(recipe, data, moved, "--resume", "--steps", steps)) == 0
    assert same_weights(weights(moved), weights(whole))


def _train(printed: Path, errors: Path, arguments: list[str]) -> None:
    """training.train as the main function of a process of its own."""
    for stream, path in ((1, printed), (2, errors)):
        with path.open("wb") as file:
            os.dup2(file.fileno(), stream)
    status = main(arguments)
    sys.stdout.flush()
    sys.exit(status)


@pytest.mark.timeout(300)
def test_a_signal_finishes_the_step_saves_and_says_how_to_go_on(
    data: Path, recipe: Path, tmp_path: Path
) -> None:
    numbers = (signal.SIGTERM, signal.SIGINT)
    started = {}
    for number in numbers:
        out = tmp_path / number.name  # no signal comes after the last step
        arguments = command(recipe, data, out, "--steps", "100000")
        said = tmp_path / f"{number.name}.out", tmp_path / f"{number.name}.err"
        started[number] = forkserver().Process(target=_train, args=(*said, arguments))
        started[number].start()
    trains = set(started)
    while trains:  # the signal comes as soon as a run has begun: what it computes is computed twice
        for number in tuple(trains):
            begun = (tmp_path / number.name / "run.jsonl").exists()
            if begun or not started[number].is_alive():
                os.kill(started[number].pid or 0, number)
                trains.remove(number)
        time.sleep(0.01)
    steps = {}
    for number, process in started.items():
        process.join(timeout=200)
        printed, errors = (
            (tmp_path / f"{number.name}.{end}").read_text("utf-8") for end in ("out", "err")
        )
        assert process.exitcode == 0, errors
        assert "Traceback" not in errors
        stopped = re.search(r"Stopped at step (\d+)\. .*--resume", printed)
        assert stopped, printed
        steps[number] = int(stopped[1])
    last = ["--steps", str(max(steps.values()) + 4)]
    assert main(command(recipe, data, tmp_path / "whole", *last)) == 0
    for number in started:
        out = tmp_path / number.name
        assert main(command(recipe, data, out, "--resume", *last)) == 0
        assert same_weights(weights(out), weights(tmp_path / "whole"))
