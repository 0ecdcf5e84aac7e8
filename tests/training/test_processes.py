"""Two processes are one run, and what goes wrong in one of them ends both in one sentence."""

import hashlib
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.kit import free_port
from tests.training import runs
from training import devices, train
from training.data import corpus
from training.data.batches import Batch
from training.run import journal
from training.update import Updater

pytestmark = pytest.mark.slow


def _measured(out: Path, name: str) -> dict[int, float]:
    records = journal.read(out / "run.jsonl")
    return {int(r["step"]): float(r[name]) for r in records if name in r}


@pytest.mark.timeout(300)
def test_a_run_of_two_processes_that_one_goes_on_with_is_the_run_of_one(tiny, tmp_path):
    # Adam's first steps follow the sign of a gradient: at the paper's rate they lift the rounding
    tiny.change(P_drop=0.0, lr_factor=0.1, validate_every=6, steps=12)
    out = tiny.out
    # SIGTERM comes to one of the two alone
    stopped = {1: partial(_with_a_signal_in_an_update, signal.SIGTERM)}
    assert _run_both(tmp_path, [tiny.command()] * 2, stopped) == ([0, 0], [])
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
    for name in ("step", "epoch", "batch"):
        assert places[0][name] == places[1][name], name
    assert not runs.same_weights(
        runs.weights(single), runs.weights(out)
    )  # to within rounding alone


def _main(
    rank: int, port: int, printed: Path, prepare: Callable[[], None] | None, arguments: list[str]
) -> None:
    """training.train as one of two processes that nothing watches."""
    for stream in (1, 2):
        os.dup2(os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
    if prepare:
        prepare()
    sys.exit(train.main(arguments))


def _start(*given: Any) -> ForkServerProcess:
    process = runs.forkserver().Process(target=_main, args=given)
    process.start()
    return process


def _with_a_signal_in_an_update(number: int) -> None:
    update = Updater.update

    def signalled(self: Updater, step: int, *rest: Any) -> None:
        if step == 6:
            os.kill(os.getpid(), number)
        update(self, step, *rest)

    Updater.update = signalled  # type: ignore[assignment, method-assign]


def _results(started: list[ForkServerProcess], printed: list[Path]) -> tuple[list[int], list[str]]:
    """The exit status of each process, and all sentences of the command that they printed."""
    for process in started:
        process.join()
    text = "\n".join(path.read_text("utf-8") for path in printed)
    assert "Traceback" not in text
    assert "Exception" not in text  # of C++
    sentences = [line for line in text.splitlines() if line.startswith("headlight train: ")]
    return [process.exitcode or 0 for process in started], sentences


def _run_both(
    tmp_path: Path, arguments: list[list[str]], prepared: Mapping[int, Callable[[], None]]
) -> tuple[list[int], list[str]]:
    port, printed = free_port(), [tmp_path / f"{rank}.txt" for rank in (0, 1)]
    started = [
        _start(rank, port, printed[rank], prepared.get(rank), arguments[rank]) for rank in (0, 1)
    ]
    return _results(started, printed)


@pytest.mark.parametrize("killed", [0, 1])
def test_a_process_whose_fellow_is_killed_ends_and_the_run_goes_on_later(killed, tiny, tmp_path):
    prepared = {killed: partial(_with_a_signal_in_an_update, signal.SIGKILL)}
    status, sentences = _run_both(tmp_path, [tiny.command()] * 2, prepared)
    assert status[killed] == -signal.SIGKILL
    assert status[1 - killed] == 2
    assert len(sentences) == 1
    assert "Another process of this run has ended" in sentences[0]
    tiny.train("--resume", "--steps", "4")  # nothing locks the folder any more


def test_processes_that_may_not_train_or_differ_say_so_once_and_write_nothing(tiny, tmp_path):
    other, text, out = tmp_path / "other.toml", tmp_path / "text", tiny.out
    other.write_text(tiny.recipe.read_text().replace("lr_factor = 1.0", "lr_factor = 0.5"))
    shutil.copytree(tiny.data, text)
    with (text / "train.en").open("a") as source, (text / "train.de").open("a") as target:
        source.write("The dog sees his bird.\n")
        target.write("Der Hund sieht seinen Vogel.\n")
    ours = tiny.command()
    slower = [ours[0], str(other), *ours[2:]]
    busy = train.hold_lock(out / train.LOCK, corpus.CorpusError("unused"))
    cases: list[tuple[list[str], AbstractContextManager[object], str]] = [
        (slower, nullcontext(), "[training] lr_factor is 1.0 in process 0"),
        (tiny.command(data=text), nullcontext(), "the SHA-256 of the training text is"),
        (ours, busy, "is being trained in by another process"),
    ]
    for theirs, held, sentence in cases:
        out.mkdir()
        with held:
            status, sentences = _run_both(tmp_path, [ours, theirs], {})
        assert status == [2, 2], sentence
        assert len(sentences) == 1
        assert sentence in sentences[0]
        out.rmdir()  # it is empty
        for rank in (0, 1):
            (tmp_path / f"{rank}.txt").unlink()


def _with_a_bad_loss() -> None:
    """In the second process a loss is not finite; both print the checksum of all weights."""
    update = Updater.update

    def spoiled(self: Updater, step: int, batches: list[Batch], tokens: int) -> None:
        if step == 9 and os.environ["RANK"] == "1":
            self.summed_loss += float("nan")  # and every gradient is finite
        update(self, step, batches, tokens)
        flat = torch.cat([p.detach().flatten() for p in self.parameters])
        print("weights", hashlib.sha256(flat.numpy().tobytes()).hexdigest())

    devices.ProcessInfo.is_asynchronous = True  # type: ignore[assignment]  # as on a GPU
    Updater.update = spoiled  # type: ignore[assignment, method-assign]


def test_a_loss_that_is_not_finite_in_one_process_stops_both_with_equal_weights(tiny, tmp_path):
    # an update is a single pair, so that the second process has none
    tiny.change(batch_tokens=1, save_every=4)
    prepared = {0: _with_a_bad_loss, 1: _with_a_bad_loss}
    status, (sentence,) = _run_both(tmp_path, [tiny.command()] * 2, prepared)
    assert status == [2, 2]
    assert "The loss or a gradient is not finite at step 9 (epoch 0" in sentence
    assert "The last good checkpoint is that of step 8" in sentence
    printed = [(tmp_path / f"{rank}.txt").read_text("utf-8") for rank in (0, 1)]
    weights, others = (re.findall(r"weights ([0-9a-f]{64})", text) for text in printed)
    assert weights == others
    # seen at the next probe; no weight had changed since the step before
    *good, before, bad, after, last = weights
    assert before == bad == after == last
    assert len({*good, before}) == 8
    names = [folder.name for folder in (tiny.out / "checkpoints").iterdir()]
    assert sorted(names) == ["step-00000004", "step-00000008"]
