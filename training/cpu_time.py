"""The time that a run would take on this processor, measured by one update on random pieces."""

import dataclasses
import time
from pathlib import Path

import torch

from training.config import CONFIGS, Recipe, RunConfig
from training.data.batches import Batch
from training.devices import ProcessInfo
from training.update import Updater
from transformer.config import EOS
from transformer.errors import ConfigError
from transformer.model import Transformer

FOR_CPU = "demo-cpu.toml"  # of `CONFIGS`
TOKENS, LENGTH = 512, 32  # on each side of the measured update, and of its sentences


def refuse_cpu(config: RunConfig, path: Path, process: ProcessInfo) -> None:
    """Refuse to train on a CPU by a configuration for GPUs, with an estimate and an alternative."""
    recipe, other = config.recipe, RunConfig.load(CONFIGS / FOR_CPU)
    seconds = seconds_per_update(config, process)
    same = other.model == config.model
    other_seconds = seconds if same else seconds_per_update(other, process)
    gpus = f"{recipe.gpus} GPUs" if recipe.gpus > 1 else "a GPU"
    raise ConfigError(
        f"{path.name} is for {gpus}, and PyTorch finds none: its {recipe.steps:,} updates of "
        f"{recipe.batch_tokens:,} tokens would take about {duration(recipe, seconds)} on this "
        f"processor. Take {FOR_CPU}, about {duration(other.recipe, other_seconds)}, or add "
        f"--on-cpu. (Estimated, without validation, from one update of {TOKENS} random "
        f"tokens, which took {seconds:.2f} s just now.)"
    )


def seconds_per_update(config: RunConfig, process: ProcessInfo) -> float:
    """Measure an update of `TOKENS` random pieces a side: the fastest of three, or of 2 seconds."""
    config = dataclasses.replace(config, recipe=dataclasses.replace(config.recipe, compile=False))
    updater = Updater(Transformer(config.model).train(), config, process)
    length = min(LENGTH, config.model.max_length)
    shape = TOKENS // length, length
    batch = Batch(*(torch.randint(EOS, config.model.vocab_size, shape) for _ in range(3)))
    updater.update(1, [batch], batch.labels.numel())  # it warms up
    times: list[float] = []
    while len(times) < 3 and sum(times) < 2:
        started = time.perf_counter()
        updater.update(2 + len(times), [batch], batch.labels.numel())
        times.append(time.perf_counter() - started)
    return min(times)


def duration(recipe: Recipe, seconds: float) -> str:
    """Describe how long the updates of a recipe take, such as `27 hours` or `23 days`."""
    hours = recipe.steps * recipe.batch_tokens * seconds / TOKENS / 3600
    if hours < 48:
        return f"{hours:.1f} hours" if hours < 10 else f"{hours:.0f} hours"
    return f"{hours / 24:,.0f} days"
