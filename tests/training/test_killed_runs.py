"""A run that is killed again and again ends in the weights of one that is not.

A module of its own, since it takes longest: pytest-xdist gives each module to one process.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.training.conftest import RECIPE
from tests.training.runs import (
    command,
    forkserver,
    log_without_times,
    same_weights,
    wait_for_write,
    weights,
)
from training.run.state import has_state
from training.train import main


@pytest.mark.timeout(400)
def test_twenty_kills_end_in_the_weights_of_the_run_that_was_never_stopped(
    data: Path, recipe: Path, tmp_path: Path
) -> None:
    longer = RECIPE.replace("steps = 24", "steps = 120")
    options = "bpe_dropout = 0.2\nr_drop = 5.0\nmicro_batch_tokens = 90"
    longer = longer.replace("log_every = 4", f"log_every = 3\n{options}")
    longer = longer.replace("validate_every = 12", "validate_every = 18")
    whole, out = tmp_path / "whole", tmp_path / "killed"
    part = Path(f"{data}:0.7")  # drawn anew in each epoch
    recipe.write_text(longer.replace("save_every = 8", "save_every = 60"))
    assert main(command(recipe, part, whole)) == 0
    recipe.write_text(longer.replace("save_every = 8", "save_every = 2"))
    context = forkserver()
    moments, start = random.Random(7), 0.0
    for kill in range(20):
        resume = ["--resume"] if has_state(out / "state") else []
        process = context.Process(target=main, args=(command(recipe, part, out, *resume),))
        process.start()
        began = time.monotonic()
        if kill % 5 == 1:  # anywhere before its first step
            time.sleep(moments.uniform(0, start))
        else:  # the first before it has saved anything, the others after one save or two
            wait_for_write(out / ("state/state.json" if kill else "run.jsonl"), process.is_alive)
            start = start or time.monotonic() - began
            time.sleep(moments.uniform(0, 0.015))
        was_running = process.is_alive()
        process.kill()
        process.join()
        assert was_running, "the run ended before its twenty kills"
    assert has_state(out / "state")
    assert main(command(recipe, part, out, "--resume")) == 0
    assert same_weights(weights(out), weights(whole))
    assert log_without_times(out) == log_without_times(whole)
