"""Two processes are one run: the same curve as one has, and what goes wrong in one stops both."""

import hashlib
import io
import json
import os
from contextlib import redirect_stderr
from pathlib import Path

import pytest
import torch

from tests.training import runs
from training.data.batches import Batch
from training.devices import ProcessInfo
from training.run import journal
from training.train import main
from training.update import Updater

pytestmark = pytest.mark.slow


def _stopped_in_the_second(step: int, arguments: list[str]) -> int:
    """SIGTERM comes to one of the two processes alone."""
    return runs.status_stopped_at(step if os.environ["RANK"] == "1" else 0, arguments)


def _measured(out: Path, name: str) -> dict[int, float]:
    records = journal.read(out / "run.jsonl")
    return {int(r["step"]): float(r[name]) for r in records if name in r}


@pytest.mark.timeout(300)
def test_a_run_of_two_processes_that_one_goes_on_with_is_the_run_of_one(tiny):
    # Adam's first steps follow the sign of a gradient: at the paper's rate they lift the rounding
    tiny.change(P_drop=0.0, lr_factor=0.1, validate_every=6, steps=12)
    out = tiny.out
    status = runs.in_two_processes(_stopped_in_the_second, 6, tiny.command())
    assert status == {0: 0, 1: 0}
    state = json.loads((out / "state" / "state.json").read_text())
    assert state["place"]["step"] == 8  # they agree at a line of the log
    both = runs.losses(out)
    assert list(both) == [4, 8]
    tiny.change(micro_batch_tokens=100)
    tiny.train("--resume")
    single = tiny.train(out="one")

    for name in ("loss", "validation_loss"):
        assert _measured(out, name) == pytest.approx(_measured(single, name), rel=2e-5), name
    # the same place in the same order of the text
    places = [
        json.loads((run / "state" / "state.json").read_text())["place"] for run in (single, out)
    ]
    for name in ("step", "epoch", "batch", "without_gain"):
        assert places[0][name] == places[1][name], name
    assert not runs.same_weights(
        runs.weights(single), runs.weights(out)
    )  # to within rounding alone


def _with_a_bad_loss(bad: int, arguments: list[str]) -> tuple[int, str, list[str]]:
    """In the second process a loss is not finite: exit status, what is said, weights by step."""
    update, checksums = Updater.update, []

    def spoiled(self: Updater, step: int, batches: list[Batch], tokens: int) -> None:
        if step == bad and os.environ["RANK"] == "1":
            self.summed_loss += float("nan")  # and every gradient is finite
        update(self, step, batches, tokens)
        flat = torch.cat([p.detach().flatten() for p in self.parameters])
        checksums.append(hashlib.sha256(flat.numpy().tobytes()).hexdigest())

    message = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(message):
        patch.setattr(ProcessInfo, "is_asynchronous", True)  # as on a GPU: no look at each step
        patch.setattr(Updater, "update", spoiled)
        status = main(arguments)
    return status, message.getvalue(), checksums


@pytest.mark.timeout(300)
def test_a_loss_that_is_not_finite_in_one_process_stops_both_with_equal_weights(tiny):
    # an update is a single pair, so that the second process has none
    tiny.change(batch_tokens=1, save_every=4)
    results = runs.in_two_processes(_with_a_bad_loss, 9, tiny.command())
    assert [results[rank][0] for rank in (0, 1)] == [2, 2]
    message = "".join(results[rank][1] for rank in (0, 1))
    assert message.count("The loss or a gradient is not finite at step 9 (epoch 0") == 1
    assert message.count("The last good checkpoint is that of step 8") == 1
    assert results[0][2] == results[1][2]
    # seen at the next probe; no weight had changed since the step before
    *good, before, bad, after, last = results[0][2]
    assert len(good) == 7
    assert before == bad == after == last
    assert len({*good, before}) == 8
    names = [folder.name for folder in (tiny.out / "checkpoints").iterdir()]
    assert sorted(names) == ["step-00000004", "step-00000008"]
