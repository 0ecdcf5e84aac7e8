"""A run learns, can be cut anywhere, and goes on as if it had not been."""

import json
import math
import re
import shutil
import signal
from pathlib import Path

import pytest
import safetensors.torch
import torch

from tests.training.conftest import TinyRun
from tests.training.runs import losses, same_weights, status_stopped_at, weights
from training.devices import ProcessInfo
from training.run import journal

pytestmark = pytest.mark.slow
MATRIX = re.compile(r"(?:en|de)coder\.layers\.(\d)\.(?!.*norm).*weight")


def _plan(out: Path) -> journal.Record:
    return journal.plan(journal.read(out / "run.jsonl"))


def test_a_run_leaves_a_log_checkpoints_probes_and_their_average(finished: Path) -> None:
    records = journal.read(finished / "run.jsonl")
    assert list(losses(finished)) == [4, 8, 12, 16, 20, 24]
    assert losses(finished)[24] < losses(finished)[4] - 0.5
    assert records[0].items() >= {"step": 0, "d_model": 32, "warmup": 12, "lr_factor": 1.0}.items()
    assert {"step", "epoch", "loss", "lr", "tokens_per_second", "seconds"} <= records[1].keys()
    measured = [r for r in records if "validation_loss" in r]
    assert [r["step"] for r in measured] == [12, 24]
    assert {"validation_perplexity", "validation_bleu", "validation_chrf"} <= measured[0].keys()
    folders = sorted((finished / "checkpoints").iterdir())
    assert [path.name for path in folders] == ["step-00000016", "step-00000024"]
    watched = {1, 2, 3, 4, 6, 8, 11, 16, 23, 12, 24}  # the early ones, and those of the validations
    assert {path.name for path in (finished / "probes").iterdir()} == {
        f"step-{step:08d}-{name}-1.npz" for step in watched for name in ("sentence", "written")
    }
    first, second, averaged = (
        safetensors.torch.load_file(folder / "model.safetensors")
        for folder in (*folders, finished / "averaged")
    )
    for name, value in averaged.items():
        mean = (first[name].double() + second[name].double()) / 2
        torch.testing.assert_close(value.double(), mean, rtol=1e-3, atol=1e-6)
    assert not same_weights(first, second)
    state = json.loads((finished / "state" / "state.json").read_text())
    assert state["place"]["step"] == 24
    names = {path.name for path in (finished / "state").iterdir()}
    start = json.loads((finished / "state" / "state.json").read_text())["sha256"][:16]
    assert names == {"state.json", f"state-{start}.safetensors"}


def test_a_run_can_be_made_longer(finished: Path, interrupted: Path, tiny: TinyRun) -> None:
    tiny.train("--resume")
    assert same_weights(weights(interrupted), weights(finished))
    tiny.train("--resume")  # nothing is left to do
    planned = [record for record in journal.read(interrupted / "run.jsonl") if "steps" in record]
    assert [(record["step"], record["steps"]) for record in planned] == [(0, 16), (16, 24)]


def test_what_a_person_changed_in_a_run_stays(interrupted: Path, tiny: TinyRun) -> None:
    edited = interrupted / "checkpoints" / "step-00000008" / "config.json"
    edited.write_text(edited.read_text() + "\n")
    tiny.train("--resume")  # after which an unchanged one of that step is gone
    assert edited.exists()
    names = sorted(path.name for path in edited.parent.parent.iterdir())
    assert names == ["step-00000008", "step-00000016", "step-00000024"]
    for name, content in (("heads.json", "{}"), ("config.json", "{}")):
        (interrupted / "averaged" / name).write_text(content)
        refusal = tiny.refusal("--resume", "--steps", "30")  # before it trains
        assert f"averaged is there, and '{name}' in it would be lost" in refusal
        (interrupted / "averaged" / name).unlink()


def test_a_damaged_state_is_one_sentence(interrupted: Path, tiny: TinyRun) -> None:
    assert "holds a run already" in tiny.refusal()
    (path,) = (interrupted / "state").glob("*.safetensors")
    path.write_bytes(path.read_bytes()[:-20])
    assert f"{path} is damaged: its SHA-256 is wrong" in tiny.refusal("--resume")
    (interrupted / "state" / "state.json").write_text("{")
    assert "state.json is damaged" in tiny.refusal("--resume")


def test_bf16_that_would_be_emulated_is_float32_and_named(tiny, monkeypatch):
    sentence = "would have to emulate bfloat16"
    runs = []
    for asked, native, precision in (
        (True, False, "float32"),
        (False, True, "float32"),
    ):
        monkeypatch.setattr(ProcessInfo, "has_native_bf16", native)
        tiny.change(bf16=asked)
        runs.append(tiny.train("--steps", "2", out=f"{asked}-{native}"))
        assert _plan(runs[-1])["precision"] == precision
        assert (sentence in tiny.printed()) is (asked and not native)
    assert same_weights(weights(runs[0]), weights(runs[1]))


def test_a_stopped_run_gives_the_signals_back_and_may_be_ended_where_it_is(tiny: TinyRun) -> None:
    signals = signal.SIGTERM, signal.SIGINT
    handlers = [*map(signal.getsignal, signals)]
    for number in signals:
        shutil.rmtree(tiny.out, ignore_errors=True)
        assert status_stopped_at(3, tiny.command(), number) == 0
        assert "Stopped at step 3." in tiny.printed()
        assert [*map(signal.getsignal, signals)] == handlers
    assert not (tiny.out / "checkpoints").exists()
    tiny.train("--resume", "--steps", "3")
    assert [folder.name for folder in (tiny.out / "checkpoints").iterdir()] == ["step-00000003"]
    assert (tiny.out / "averaged").is_dir()


def test_the_matrices_of_layer_l_begin_divided_by_its_root(tiny: TinyRun) -> None:
    # one step, which a rate of next to nothing leaves without effect
    tiny.change(N=3, lr_factor=1e-12, steps=1)
    plain = weights(tiny.train(out="plain"))
    tiny.change(depth_scaled=True)
    scaled = weights(tiny.train(out="scaled"))
    divided = set()
    for name, weight in plain.items():
        l = 1  # noqa: E741, the symbol of the article
        if at := MATRIX.fullmatch(name):
            l = int(at[1]) + 1  # noqa: E741
            divided.add(name)
        torch.testing.assert_close(scaled[name], weight / math.sqrt(l), rtol=1e-5, atol=1e-9)
    # 4 of attention and 2 of the feed-forward network; the decoder has both kinds of attention
    assert len(divided) == 3 * (4 + 2) + 3 * (4 + 4 + 2)
