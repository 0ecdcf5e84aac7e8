"""python -m training.average: the mean of the weights of the last checkpoints (§6.1)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from transformer import checkpoint, command
from transformer.arguments import Parser, whole_number
from transformer.checkpoint import MOST_BYTES_OF_OTHERS, Checkpoint
from transformer.errors import CheckpointError, unreadable, unwritable
from transformer.reading import read_bytes

CHECKPOINTS = "checkpoints"
"""The folder of a run that holds them."""


def checkpoints(run: Path) -> list[Path]:
    """The complete checkpoints of a run, oldest first.

    One that was not finished when the run was killed has a longer name.
    """
    return sorted((run / CHECKPOINTS).glob("step-" + "[0-9]" * 8))


@torch.no_grad()
def average(folders: Sequence[Path]) -> Checkpoint:
    """One checkpoint whose weights are the mean of those in these folders.

    Sums in float64, so that the order of the folders does not matter.

    Raises:
        CheckpointError: if there are none, or they hold models of different shapes.
    """
    if not folders:
        raise CheckpointError("There are no checkpoints to average: let the run save one first.")
    first = checkpoint.load(folders[0])
    sums = {name: p.double() for name, p in first.model.named_parameters()}
    for folder in folders[1:]:
        other = checkpoint.load(folder)
        if (
            other.model.config != first.model.config
            or other.tokenizer.model != first.tokenizer.model
        ):
            raise CheckpointError(f"{folder} holds another model than {folders[0]}.")
        for name, parameter in other.model.named_parameters():
            sums[name] += parameter
    for name, parameter in first.model.named_parameters():
        parameter.copy_(sums[name] / len(folders))
    return first


def write_average(run: Path, last: int, out: Path, card: Path | None = None) -> None:
    """Average the last checkpoints of a run into a checkpoint folder, its log and card beside it.

    The weights are stored as float16: half the size, and within 2^-11 of the average.

    Raises:
        CheckpointError: if the run has no checkpoints, a file beside them is no text, or the folder
            cannot be written.
    """
    averaged = average(checkpoints(run)[-last:])
    extra = {}
    for name, path in (("run.jsonl", run / "run.jsonl"), ("MODEL_CARD.md", card)):
        if path is not None:
            extra[name] = _text(path)
    try:
        checkpoint.save(out, averaged.model, averaged.tokenizer, dtype=torch.float16, extra=extra)
    except OSError as error:
        raise CheckpointError(
            f"{unwritable(error, out)} Make room, or choose another folder."
        ) from error


def _text(path: Path) -> str:
    try:
        return read_bytes(path, MOST_BYTES_OF_OTHERS).decode("utf-8")
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error
    except UnicodeDecodeError as error:
        raise CheckpointError(
            f"{path} is not UTF-8 at byte {error.start:,}: it is no text to put beside the weights."
        ) from error


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    parser = Parser(prog="python -m training.average", description=__doc__)
    parser.add_argument("run", type=Path, help="the folder of a run")
    parser.add_argument("--last", type=whole_number(1), default=5, help="how many checkpoints (5)")
    parser.add_argument("--out", type=Path, required=True, help="the checkpoint folder to write")
    parser.add_argument("--card", type=Path, help="a MODEL_CARD.md to put beside the weights")
    options = parser.parse_args(arguments)
    return command.run(
        "training.average",
        lambda: write_average(options.run, options.last, options.out, options.card),
    )


if __name__ == "__main__":
    sys.exit(main())
