"""A run that a signal stopped or killed goes on to the same bits, in another process too."""

import hashlib
import json
import random
import time
from pathlib import Path

import pytest
import torch

from tests.training import runs
from tests.training.conftest import TinyRun
from training import devices

pytestmark = pytest.mark.slow

STOPPED_AT = 19  # between two lines of the log, and between two saved states


def written(out: Path) -> dict[str, object]:
    """All that a run leaves behind, apart from times."""
    result: dict[str, object] = {"log": runs.log_without_times(out)}
    for path in sorted(out.rglob("*.safetensors")):
        result[str(path.relative_to(out))] = hashlib.sha256(path.read_bytes()).hexdigest()
    saved = json.loads((out / "state" / "state.json").read_text("utf-8"))
    place = {name: v for name, v in saved["place"].items() if "seconds" not in name}
    return {**result, "place": place}


@pytest.mark.timeout(300)
def test_a_stopped_run_goes_on_in_another_process_to_the_same_bits_and_log(tiny):
    # all that draws random numbers; an epoch has about 11 updates
    tiny.change(steps=24, log_every=7, save_every=8, validate_every=10)
    tiny.change(r_drop=5.0, micro_batch_tokens=90)
    tiny.data = Path(f"{tiny.data}:0.7")  # drawn anew in each epoch
    assert runs.status_stopped_at(STOPPED_AT, tiny.command(out="stopped")) == 0
    stopped = tiny.folder / "stopped"
    place = json.loads((stopped / "state" / "state.json").read_text("utf-8"))["place"]
    assert (place["step"], place["epoch"]) == (STOPPED_AT, 1)
    assert place["unlogged_tokens"] > 0
    resume = (10**9, tiny.command("--resume", out="stopped"))
    process = runs.forkserver().Process(target=runs.main_stopped_at, args=resume)
    process.start()
    process.join()
    expected = written(tiny.train(out="whole"))
    assert len(expected["log"]) == 8  # type: ignore[arg-type]
    assert written(stopped) == expected


def test_a_run_keeps_the_order_of_its_text_on_a_device_that_pads_otherwise(tiny, monkeypatch):
    with monkeypatch.context() as on_gpu:
        on_gpu.setattr(devices.ProcessInfo, "length_multiple", 8)
        whole = tiny.train("--steps", "8", out="whole")
        moved = tiny.train("--steps", "4", out="moved")
    assert devices.ProcessInfo(torch.device("cpu")).length_multiple == 1
    for steps in ("6", "8"):  # and is moved once more
        tiny.train("--resume", "--steps", steps, out="moved")
    assert runs.same_weights(runs.weights(moved), runs.weights(whole))


def test_kills_end_in_the_weights_of_the_run_that_was_never_stopped(tiny: TinyRun) -> None:
    tiny.change(steps=24, log_every=3, validate_every=12, save_every=24)
    tiny.change(r_drop=5.0, micro_batch_tokens=90)
    tiny.data = Path(f"{tiny.data}:0.7")  # drawn anew in each epoch
    whole, out = tiny.train(out="whole"), tiny.out
    tiny.change(save_every=2)
    context = runs.forkserver()
    moments, start = random.Random(7), 0.0
    for kill in range(3):
        resume = ["--resume"] if (out / "state").exists() else []
        process = context.Process(target=runs.main_stopped_at, args=(0, tiny.command(*resume)))
        process.start()
        began = time.monotonic()
        if kill == 1:  # anywhere before its first step
            time.sleep(moments.uniform(0, start))
        else:  # the first before it has saved anything, the others after one save or two
            runs.wait_for_write(
                out / ("state/state.json" if kill else "run.jsonl"), process.is_alive
            )
            start = start or time.monotonic() - began
            time.sleep(moments.uniform(0, 0.015))
        was_running = process.is_alive()
        process.kill()
        process.join()
        assert was_running, "the run ended before its kills"
    assert (out / "state").exists()
    tiny.train("--resume")
    assert runs.same_weights(runs.weights(out), runs.weights(whole))
    assert runs.log_without_times(out) == runs.log_without_times(whole)
