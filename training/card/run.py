"""Rows of a model card, from the files of a run."""

from __future__ import annotations

import filecmp
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.run import journal
from training.run.journal import LOG, Record
from training.run.saving import STATE, checkpoints
from training.run.state import STATE_JSON
from training.trainer import AVERAGED
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError, ConfigError, unreadable
from transformer.files.reading import MIB, read_bytes
from transformer.shapes import number_of_parameters

Row = tuple[str, str]


@dataclass(frozen=True)
class RunFiles:
    """A run's folder as far as a card tells of it.

    Args:
        folder: of the run.
        model: its shape.
        recipe: the table [training] of its configuration, as the version wrote it that trained.
        records: of its log.
    """

    folder: Path
    model: TransformerConfig
    recipe: Mapping[str, Any]
    records: Sequence[Record]

    @classmethod
    def read(cls, folder: Path) -> RunFiles:
        """Read configuration and log.

        Raises:
            CheckpointError: if the folder holds no run, or its state is damaged.
            RunLogError: naming the line of the log that is no record.
        """
        path = folder / STATE / STATE_JSON
        try:
            config = json.loads(read_bytes(path, 64 * MIB))["config"]
            model, recipe = TransformerConfig.from_dict(config["model"]), dict(config["training"])
        except FileNotFoundError as error:
            raise CheckpointError(
                f"{folder} holds no run: give the --out of a training.train."
            ) from error
        except OSError as error:
            raise CheckpointError(unreadable(error, path)) from error
        except (ValueError, KeyError, TypeError, RecursionError, ConfigError) as error:
            raise CheckpointError(f"{path} is damaged: give an undamaged run.") from error
        records = journal.read(folder / LOG)
        if not any("loss" in record for record in records):
            raise CheckpointError(f"{folder / LOG} has no loss yet: let the run log one first.")
        return cls(folder, model, recipe, records)

    @property
    def plan(self) -> Record:
        """The schedule that was planned last."""
        return journal.plan(self.records)

    @property
    def averages(self) -> bool:
        """True if the run is complete and the mean of its last checkpoints is written.

        A run that went on after that has added to its log, of which the mean has a copy.
        """
        copy = self.folder / AVERAGED / LOG
        return copy.exists() and filecmp.cmp(copy, self.folder / LOG, shallow=False)

    def weights(self) -> Path:
        """Folder of the weights that the card describes.

        Raises:
            CheckpointError: if the run has saved none.
        """
        if self.averages:
            return self.folder / AVERAGED
        if saved := checkpoints(self.folder):
            return saved[-1]
        raise CheckpointError(f"{self.folder} has no checkpoint yet: let the run save one first.")


def model_rows(run: RunFiles) -> Iterator[Row]:
    """Shape, vocabulary and weights."""
    model = run.model
    yield (
        "shape",
        f"N = {model.N}, d_model {model.d_model}, h {model.h}, d_k {model.d_k}, d_v {model.d_v}, "
        f"d_ff {model.d_ff}, {model.positions} positions up to {model.max_length:,}; "
        f"{number_of_parameters(model):,} parameters",
    )
    yield "vocabulary", f"{model.vocab_size:,} pieces of byte-pair encoding, joint and cased"
    steps = [int(folder.name.removeprefix("step-")) for folder in checkpoints(run.folder)]
    if run.averages:
        averaged = ", ".join(f"{step:,}" for step in steps[-int(run.recipe["average"]) :])
        yield "weights", f"the mean of the last checkpoints, steps {averaged}"
    elif steps:
        yield "weights", f"the checkpoint of step {steps[-1]:,}"


def training_rows(run: RunFiles) -> Iterator[Row]:
    """Yield the rows on the training itself, from its log."""
    plan, logged = run.plan, [record for record in run.records if "loss" in record]
    last = logged[-1]
    yield (
        "steps",
        f"{last['step']:,} of {plan.get('steps', last['step']):,}, "
        f"in epoch {int(last.get('epoch', 0)) + 1}",
    )
    if "batch_tokens" in plan:
        yield "update", f"up to {plan['batch_tokens']:,} padded tokens of each language"
    yield (
        "optimiser",
        f"Adam (0.9, 0.98, 1e-9), equation 3 with {plan.get('warmup', 0):,} steps of warmup",
    )
    yield "regularisation", f"P_drop {run.model.P_drop:g}, ε_ls {run.model.epsilon_ls:g}"
    yield "not in the paper", "; ".join(_not_in_the_paper(run)) or "none of what is recorded"
    yield from _text_rows(plan)
    tokens, seconds = _tokens(logged), float(last.get("seconds", 0))
    if tokens and seconds:
        yield "target tokens", f"{tokens:,.0f}, {tokens / seconds:,.0f} a second"
        yield "time of the updates", _duration(seconds)
    machine = [str(plan[name]) for name in ("device", "precision") if name in plan]
    if "processes" in plan:
        machine.insert(0, f"{plan['processes']:,} process{'' if plan['processes'] == 1 else 'es'}")
    if machine:
        yield "machine", ", ".join(machine)
    yield from _result_rows(run.records, last)


def _not_in_the_paper(run: RunFiles) -> Iterator[str]:
    """Each setting of which the paper has none, or another one than any row of Table 3."""
    settings = {**run.recipe, **run.plan}
    for name, default, words in (
        ("lr_factor", 1, "a factor of {:g} on the rate of equation 3"),
        ("cooldown", 0, "a rate that falls to 0 over the last {:,} steps"),
        ("bpe_dropout", 0, "BPE-dropout of {:g} (Provilkov et al. 2020)"),
        ("r_drop", 0, "R-Drop with α = {:g} (Liang et al. 2021)"),
        ("started_from", "", "first weights of the checkpoint with SHA-256 {!s:.12}…"),
        ("depth_scaled", False, "first weights of layer l divided by √l (Zhang et al. 2019)"),
        ("patience", 0, "an end after {:,} validations without a lower loss"),
    ):
        if (value := settings.get(name, default)) != default:
            yield words.format(value)
    if run.model.activation != "relu":
        yield f"{run.model.activation} in the feed-forward networks"
    if run.model.attention_bias:
        yield "biases in the projections of attention"
    if run.model.output_bias:
        yield "a bias before the softmax"


def _text_rows(plan: Record) -> Iterator[Row]:
    counts = [
        f"{plan[name]:,} {words}"
        for name, words in (
            ("pairs", "sentence pairs"),
            ("left_out", "left out as empty or too long"),
            ("validation_left_out", "of the validation text likewise"),
        )
        if name in plan
    ]
    if counts:
        yield "text", ", ".join(counts)


def _result_rows(records: Sequence[Record], last: Record) -> Iterator[Row]:
    yield "training loss", f"{last['loss']:.3f} at step {last['step']:,}, label-smoothed, in nats"
    measured = [record for record in records if "validation_loss" in record]
    if not measured:
        return
    best = min(measured, key=lambda record: float(record["validation_loss"]))
    for name, record in (("validation", measured[-1]), ("lowest validation loss", best)):
        if name == "validation" or best is not measured[-1]:
            yield name, _validation(record)


def _validation(record: Record) -> str:
    parts = [
        f"{words} {record[name]:{shown}}"
        for name, words, shown in (
            ("validation_loss", "loss", ".3f"),
            ("validation_perplexity", "perplexity", ".2f"),
            ("validation_bleu", "BLEU (greedy)", ".2f"),
            ("validation_chrf", "chrF", ".2f"),
        )
        if name in record
    ]
    return f"{', '.join(parts)} at step {record['step']:,}"


def _tokens(logged: Sequence[Record]) -> float:
    """Target tokens of the run: each speed in the log times the seconds that it was kept."""
    total = before = 0.0
    for record in logged:
        seconds = float(record.get("seconds", before))
        total += float(record.get("tokens_per_second", 0)) * (seconds - before)
        before = seconds
    return total


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
