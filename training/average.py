"""headlight average: the mean of the weights of several checkpoints (§6.1)."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from training.run import journal, state
from transformer.checkpoints import checkpoint
from transformer.checkpoints.checkpoint import MAX_OTHER_BYTES, Checkpoint
from transformer.checkpoints.other_files import advice
from transformer.cli import command
from transformer.cli.arguments import Parser, number, whole_number
from transformer.errors import CheckpointError, reading, writing
from transformer.files import atomic
from transformer.files.installed import checkpoint_folder
from transformer.files.reading import read_bytes

LAST = 5  # checkpoints of a run, unless the user says so
LEAST_SHARE = 0.001  # a smaller one would be about as little as float16 rounds away


@torch.no_grad()
def average(folders: Sequence[Path], shares: Sequence[float] | None = None) -> Checkpoint:
    """Average the weights of checkpoint folders, equally or by shares, in float64."""
    if not folders:
        raise CheckpointError("There are no checkpoints to average: let the run save one first.")
    if shares is None:
        shares = [1.0] * len(folders)
    if len(shares) != len(folders):
        raise CheckpointError(
            f"{len(folders)} checkpoints have {len(shares)} shares: give one for each of them."
        )
    first = checkpoint.load(folders[0])
    sums = {name: shares[0] * p.double() for name, p in first.model.named_parameters()}
    for folder, share in zip(folders[1:], shares[1:], strict=True):
        other = checkpoint.load(folder)
        if (
            other.model.config != first.model.config
            or other.tokenizer.model != first.tokenizer.model
            or other.languages != first.languages
        ):
            raise CheckpointError(f"{folder} holds another model than {folders[0]}.")
        for name, parameter in other.model.named_parameters():
            sums[name] += share * parameter.double()
    for name, parameter in first.model.named_parameters():
        parameter.copy_(sums[name] / sum(shares))
    return first


def write_average(
    folders: Sequence[Path],
    out: Path,
    *,
    shares: Sequence[float] | None = None,
    log: Path | None = None,
    card: Path | None = None,
    dtype: torch.dtype = torch.float16,
) -> None:
    """Average checkpoints into a folder, as float16 by default, with a log and a card."""
    texts = {name: p for name, p in ((journal.LOG, log), ("MODEL_CARD.md", card)) if p is not None}
    with writing(out):
        if sentence := checkpoint.refusal(out, texts):
            raise CheckpointError(sentence)
        atomic.require_room(out)
    averaged = average(folders, shares)
    extra = {name: _text(path) for name, path in texts.items()}
    with writing(out, advice="Make room, or choose another folder."):
        checkpoint.save(
            out, averaged.model, averaged.tokenizer,
            languages=averaged.languages, dtype=dtype, extra=extra,
        )  # fmt: skip


def _text(path: Path) -> str:
    try:
        with reading(path):
            return read_bytes(path, MAX_OTHER_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise CheckpointError(
            f"{path} is not UTF-8 at byte {error.start:,}: put text beside the weights."
        ) from error


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    parser = Parser(prog="headlight average", description=__doc__)
    add = parser.add_argument
    run = "one run folder, to average its last checkpoints, or several checkpoint folders"
    add("folders", type=checkpoint_folder, nargs="+", metavar="FOLDER", help=run)
    add("--last", type=whole_number(1), help=f"how many; default: {LAST}")
    share, equal = number(LEAST_SHARE, 1.0), "share of each checkpoint; default: equal shares"
    add("--shares", type=share, nargs="+", metavar="SHARE", help=equal)
    add("--out", type=Path, required=True, help="checkpoint folder to write")
    add("--card", type=Path, help="MODEL_CARD.md to put beside the weights")
    bfloat16 = "store weights as bfloat16 instead of float16, within 2^-8 of the mean: same size, "
    bfloat16 += "and a fifth smaller if you compress the folder"
    add("--bfloat16", action="store_true", help=bfloat16)
    options = parser.parse_args(arguments)
    several = len(options.folders) > 1
    if several and options.last is not None:
        parser.error("--last is for one run: name one folder, or leave it out")
    if not several and options.shares is not None:
        parser.error("--shares are of several checkpoints: name them, or leave it out")
    return command.run(parser.prog, lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    folders, log = options.folders, options.folders[0] / journal.LOG
    if len(folders) == 1:
        folders = state.checkpoints(folders[0])[-(options.last or LAST) :]
        if not folders and (sentence := advice(options.folders[0], "")):
            raise CheckpointError(sentence)
    elif not log.exists():
        log = None
    dtype = torch.bfloat16 if options.bfloat16 else torch.float16
    write_average(
        folders, options.out, shares=options.shares, log=log, card=options.card, dtype=dtype
    )
