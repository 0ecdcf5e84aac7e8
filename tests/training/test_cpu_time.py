"""A configuration for GPUs on a machine without one: an estimate, another name, and a flag."""

import time

import pytest
import torch

from training import cpu_time
from training.config import CONFIGS, RunConfig
from training.data.batches import Batch
from training.devices import ProcessInfo
from training.train import main
from training.update import Updater

CPU = ProcessInfo(torch.device("cpu"))

# seconds of an update of 512 tokens, by d_model; updates × tokens × seconds / 512 / 3600 / 24
SECONDS = {32: 1.0, 256: 0.125, 512: 0.5, 1024: 2.0}
WITHOUT_GPU = {
    "demo.toml": ("a GPU", "40,000 updates of 12,000 tokens", "33 hours"),
    "base.toml": ("8 GPUs", "100,000 updates of 25,000 tokens", "28 days"),
    "big.toml": ("8 GPUs", "300,000 updates of 25,000 tokens", "339 days"),
    "table3/c-N2.toml": ("8 GPUs", "100,000 updates of 25,000 tokens", "28 days"),
}


@pytest.fixture
def known_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    def seconds(config: RunConfig, process: ProcessInfo) -> float:
        return SECONDS[config.model.d_model]

    monkeypatch.setattr(cpu_time, "seconds_per_update", seconds)


@pytest.mark.usefixtures("known_speed")
@pytest.mark.parametrize("name", WITHOUT_GPU)
def test_a_configuration_for_gpus_is_refused_with_an_estimate(name, data, tmp_path, capsys) -> None:
    gpus, updates, time = WITHOUT_GPU[name]
    run = ["--config", name, "--data", str(data), "--out", str(tmp_path / "out")]
    assert main(run) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    for part in (gpus, updates, f"about {time} on", "demo-cpu.toml, about 3.5 hours", "--on-cpu"):
        assert part in line
    assert not list(tmp_path.iterdir())
    # with the flag it goes on, here to the vocabulary that such a text cannot have
    assert main([*run, "--on-cpu"]) == 2
    printed = capsys.readouterr()
    assert "Learning a vocabulary" in printed.out
    assert "--on-cpu" not in printed.err


@pytest.mark.usefixtures("known_speed")
def test_a_run_for_a_gpu_trains_on_a_cpu_and_goes_on_if_told(tiny) -> None:
    tiny.change(gpus=1)
    assert "is for a GPU" in tiny.refusal()
    tiny.train("--on-cpu", "--steps", "8")
    assert "cpu, 1 process" in tiny.printed()
    assert "--on-cpu" in tiny.refusal("--resume", "--steps", "9")
    tiny.change(gpus=0)  # which a run may change
    tiny.train("--resume", "--steps", "9")


def test_the_fastest_of_three_updates_of_the_model_itself_counts(monkeypatch) -> None:
    config = RunConfig.from_dict(
        {
            "model": {
                "vocab_size": 40, "N": 1, "d_model": 16, "d_ff": 16, "h": 2, "max_length": 20
            },
            "training": {"max_pieces": 20, "compile": True},
        }
    )  # fmt: skip
    update, made = Updater.update, []

    def noted(self: Updater, step: int, batches: list[Batch], tokens: int) -> None:
        made.append((self.config.model, self.recipe.compile, batches[0].source.shape, tokens))
        update(self, step, batches, tokens)

    monkeypatch.setattr(Updater, "update", noted)
    # each pair of calls is an update: the first one warms up, and the fastest other one counts
    clock = iter([0.0, 0.9, 1.0, 1.25, 2.0, 2.5])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    assert cpu_time.seconds_per_update(config, CPU) == 0.25
    assert made == [(config.model, False, (25, 20), 500)] * 4


def test_each_configuration_says_what_it_is_for() -> None:
    gpus = {
        path.relative_to(CONFIGS).as_posix(): RunConfig.load(path).recipe.gpus
        for path in CONFIGS.rglob("*.toml")
    }
    assert {name: count for name, count in gpus.items() if "/" not in name and count} == {
        "demo.toml": 1, "base.toml": 8, "big.toml": 8, "base-fr.toml": 8, "big-fr.toml": 8,
    }  # fmt: skip
    assert {count for name, count in gpus.items() if name.startswith("table3/")} == {8}
    assert {count for name, count in gpus.items() if name.startswith("rows/")} == {0}
