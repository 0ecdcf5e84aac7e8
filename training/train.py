"""headlight train: from parallel text to a checkpoint."""

import argparse
import dataclasses
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout
from torch import Tensor

from training import bleu_tokens, cpu_time, devices
from training.config import RunConfig
from training.data import batches, run_data, text_folders
from training.data.prepared import prepared_among
from training.run import journal
from training.run.state import STATE, SavedRun, read_state
from training.trainer import AVERAGED, Trainer
from transformer import shapes
from transformer.analysis import stored
from transformer.checkpoints import checkpoint, marian
from transformer.checkpoints.checkpoint import Checkpoint
from transformer.cli import command
from transformer.cli.arguments import Parser, whole_number
from transformer.config import TransformerConfig
from transformer.errors import ConfigError, HeadlightError, quoted, writing
from transformer.files import atomic, installed
from transformer.text import tokenizer

LOCK = "run.lock"  # in the folder of a run, while it trains


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        return command.run(parser.prog, lambda: _train(options))
    finally:
        devices.leave_processes()  # only here nothing holds the model any more, not even an error


def _train(options: argparse.Namespace) -> int:
    try:
        advice = "Make room, or choose another --out."
        with devices.lost_process_as_error(), writing(options.out, ConfigError, advice):
            train(options)  # what cannot be read raises a HeadlightError
    except HeadlightError as error:
        # each process that is left says so; the one that has the store may be gone
        if isinstance(error, devices.LostProcessError) or devices.is_first_to_log(str(error)):
            raise
        return command.REFUSED
    return 0


def train(options: argparse.Namespace) -> None:
    """Train, or resume, and average in the end; nothing is written before all is checked."""
    process, out, resume = devices.set_up_distributed(), options.out, options.resume
    start: Checkpoint | None = None
    saved: SavedRun | None = None
    tensors: Mapping[str, Tensor] = {}
    with ExitStack() as held:
        outcome: Mapping[str, object] | Exception
        try:
            if process.is_main_process:
                held.enter_context(_held_folder(out, resume))
            config, prepared = _configuration(options), prepared_among(options.data)
            on_cpu = process.is_main_process and process.device.type == "cpu"
            if config.recipe.gpus and on_cpu and not options.on_cpu:
                cpu_time.refuse_cpu(config, options.config, process)
            if resume and (out / STATE).exists():  # or the main process refuses the folder
                saved, tensors = read_state(out / STATE)
            known = saved.languages if saved else prepared.codes if prepared else None
            codes = text_folders.chosen_codes(options, known)
            if saved and codes != saved.languages:
                raise ConfigError(
                    f"{out} is a run from {saved.languages}, and not from {codes}: leave --source "
                    f"and --target out, or choose another --out for a new run."
                )
            if options.start_from and not resume:
                start = _first_weights(options.start_from, config.model, options.config)
            tables = config.to_dict()
            outcome = {
                "--resume": resume,
                **{f"[{table}] {name}": v for table in tables for name, v in tables[table].items()},
                "the SHA-256 of --start-from": start and stored.checksum_of_weights(start.folder),
                "the weights of --data": [folder.weight for folder in options.data],
                "prepared --data": prepared is not None,
                "--source and --target": codes,
            }
        except (HeadlightError, OSError) as error:
            outcome = error
        devices.require_agreement(process.world_size, outcome)
        vocabulary: tuple[tokenizer.Tokenizer, Path] | None = None
        if resume:
            vocabulary = tokenizer.Tokenizer.load(out / checkpoint.TOKENIZER), out
        elif start:
            vocabulary = start.tokenizer, start.folder
        folders = [dataclasses.replace(folder, codes=codes) for folder in options.data]
        data = run_data.read_run_data(prepared or folders, config, codes, vocabulary, process)
        trainer = Trainer(config, data, out, process)
        if start:
            trainer.start_from(start)
        texts = {
            "the SHA-256 of the training text": data.text.fingerprint,
            "the SHA-256 of the vocabulary": hashlib.sha256(data.tokenizer.model).hexdigest(),
        }
        devices.require_agreement(process.world_size, texts)
        if not saved:
            _begin(trainer)
        else:
            trainer.resume(saved, tensors)
            tensors = {}  # they take as much memory as the model and its optimiser
        if process.is_main_process:
            print(_description(trainer))
        if trainer.run():
            if process.is_main_process:
                print(f"Done. The average of the last checkpoints is in {trainer.average()}.")
        elif process.is_main_process:
            print(
                f"Stopped at step {trainer.progress.step:,}. Go on with the same command and "
                f"--resume."
            )


def _configuration(options: argparse.Namespace) -> RunConfig:
    """Read the configuration; with fewer steps the cooldown is shorter by as much."""
    config = RunConfig.load(options.config)
    shapes.refuse_too_large(config.model)
    if (steps := options.steps) is None:
        return config
    cooldown = round(config.recipe.cooldown * min(1.0, steps / config.recipe.steps))
    recipe = dataclasses.replace(config.recipe, steps=steps, cooldown=cooldown)
    return dataclasses.replace(config, recipe=recipe)


def _first_weights(folder: Path, wanted: TransformerConfig, path: Path) -> Checkpoint:
    """Load weights of a folder or a bundled name, of this shape except dropout and smoothing."""
    folder = installed.checkpoint_folder(folder)
    if marian.is_marian(folder):
        raise ConfigError(
            f"{folder} is a MarianMT folder, which can be read and not trained: start from a "
            f"checkpoint that headlight train or headlight average wrote."
        )
    given = checkpoint.load(folder)
    theirs, ours = dataclasses.asdict(given.model.config), dataclasses.asdict(wanted)
    for name in sorted(theirs.keys() - {"P_drop", "epsilon_ls"}):
        if theirs[name] != ours[name]:
            raise ConfigError(
                f"{given.folder} holds a model of {name} = {theirs[name]!r}, but {path} says "
                f"{ours[name]!r}: write there what the checkpoint has."
            )
    return given


@contextmanager
def hold_lock(path: Path, refusal: HeadlightError) -> Iterator[None]:
    """Hold a lock file, which the system frees when this process ends; a context manager."""
    lock = FileLock(path, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        raise refusal from None
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps a file that is open
            if path.stat().st_size == 0:  # a file with content is not ours
                path.unlink()  # while it is held, or another process could hold it by then
        lock.release()


@contextmanager
def _held_folder(out: Path, resume: bool) -> Iterator[None]:
    """Keep other processes from training in a folder, which is made; a context manager."""
    lock = out / LOCK
    if not lock.exists():
        _check_folder(out, resume)  # a folder that is refused stays as it is, to its times
    busy = ConfigError(
        f"{out} is being trained in by another process: wait until it has finished, or choose "
        f"another --out."
    )
    with atomic.new_folder(out), hold_lock(lock, busy):
        _check_folder(out, resume)
        yield


def _check_folder(out: Path, resume: bool) -> None:
    """Refuse a folder that holds no run to resume, or anything that a new run could replace."""
    has_run = (out / STATE).exists()
    if resume and not has_run:
        raise ConfigError(f"{out} holds no run to resume: leave out --resume.")
    if has_run and not resume:
        raise ConfigError(f"{out} holds a run already: add --resume, or choose another --out.")
    there = list(out.iterdir()) if os.path.lexists(out) else []
    # a start that was killed while it wrote its first state leaves no more than this
    if not resume and (
        foreign := sorted(p.name for p in there if not atomic.is_leftover(p) and p.name != LOCK)
    ):
        raise ConfigError(
            f"{out} holds {quoted(foreign[0])}, and no run: choose a new or an empty folder as "
            f"--out."
        )
    if resume and (sentence := checkpoint.refusal(out / AVERAGED, [journal.LOG])):
        raise ConfigError(sentence)  # rather than at the end


def _begin(trainer: Trainer) -> None:
    """Write the first state and the vocabulary of a run, or nothing."""
    try:
        trainer.saver.save_state(trainer.progress)
        if trainer.process.is_main_process:
            atomic.write_file(trainer.out / checkpoint.TOKENIZER, trainer.tokenizer.model)
    except BaseException:
        shutil.rmtree(trainer.out / STATE, ignore_errors=True)  # it is there since a moment ago
        raise


def _description(trainer: Trainer) -> str:
    recipe, process, text = trainer.recipe, trainer.process, trainer.stream.text.encoded
    lines = [
        f"{len(text):,} sentence pairs ({text.left_out:,} left out as empty or too long), "
        f"{trainer.model.number_of_parameters():,} parameters, {process.device.type}, "
        f"{batches.division(recipe, process.world_size)}, "
        f"step {trainer.progress.step:,} of {recipe.steps:,}"
    ]
    if left_out := trainer.validation.encoded.left_out:
        lines.append(
            f"{left_out:,} validation pairs are left out as empty or longer than the model accepts."
        )
    _, reason = bleu_tokens.tokens_of(trainer.languages.target)
    lines += [reason] if reason else []
    if recipe.bf16 and not trainer.updater.bf16:
        lines.append(
            "Training in float32: this processor would have to emulate bfloat16, which is far "
            "slower."
        )
    return "\n".join(lines)


def _parser() -> Parser:
    parser = Parser(
        prog="headlight train",
        description="Train a model on parallel text, from random weights to a checkpoint. The "
        "same command runs on every machine: demo.toml is for a GPU, demo-cpu.toml for a machine "
        "without one, and base.toml for eight GPUs under torchrun, as in the paper (12 hours).",
    )
    text_folders.add_text_options(
        parser,
        config="TOML file, or the name of a file in training/configs",
        data="folders with train.en and train.de; the first also has valid.* or val.*; WEIGHT is "
        "how often an epoch reads the pairs of the folder (default: once); or one folder from "
        "headlight prepare; TSV and .gz work, too",
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, help="folder of the run")
    add("--resume", action="store_true", help="resume the run in --out")
    start = "fine-tune: start with the weights and the vocabulary of a checkpoint folder, or of a "
    start += "bundled checkpoint by its name"
    add("--start-from", type=Path, metavar="CHECKPOINT", help=start)
    on_cpu = "train on the CPU although the configuration is for GPUs, and PyTorch finds none"
    add("--on-cpu", action="store_true", help=on_cpu)
    steps = "replaces the steps of the configuration; with fewer, the cooldown keeps its share"
    add("--steps", type=whole_number(1), help=steps)
    return parser
