"""A run that is killed again and again ends in the weights of one that is not.

A module of its own, since it takes longest: pytest-xdist gives each module to one process.
"""

import random
import time
from pathlib import Path

import pytest

from tests.training import conftest, runs
from training.run import state

pytestmark = pytest.mark.slow


def test_kills_end_in_the_weights_of_the_run_that_was_never_stopped(tiny: conftest.TinyRun) -> None:
    tiny.change(steps=24, log_every=3, validate_every=12, save_every=24)
    tiny.change(r_drop=5.0, micro_batch_tokens=90)
    tiny.data = Path(f"{tiny.data}:0.7")  # drawn anew in each epoch
    whole, out = tiny.train(out="whole"), tiny.out
    tiny.change(save_every=2)
    context = runs.forkserver()
    moments, start = random.Random(7), 0.0
    for kill in range(3):
        resume = ["--resume"] if state.has_state(out / "state") else []
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
    assert state.has_state(out / "state")
    tiny.train("--resume")
    assert runs.same_weights(runs.weights(out), runs.weights(whole))
    assert runs.log_without_times(out) == runs.log_without_times(whole)
