"""python -m training.pipeline.row: what the Architecture page reads of a small model's run."""

from __future__ import annotations

import sys
from pathlib import Path

import safetensors.torch

from training.runlog import LOG
from transformer import checkpoint, command
from transformer.analysis.paper.learned_positions import TABLE
from transformer.arguments import Parser
from transformer.atomic import replace_folder
from transformer.errors import ConfigError, unreadable, unwritable
from transformer.reading import GIB, read_bytes

STACKS = ("encoder", "decoder")


def write_row(run: Path, out: Path) -> None:
    """Write `config.json`, `run.jsonl`, and the table of learned positions where there is one.

    Args:
        run: the folder of a complete run.
        out: the row's folder, replaced atomically.

    Raises:
        HeadlightError: one sentence on what is wrong.
        OSError: if the folder cannot be written.
    """
    trained = checkpoint.load(run / "averaged")
    try:
        log = read_bytes(run / LOG, GIB)
    except OSError as error:
        raise ConfigError(unreadable(error, run / LOG)) from error
    with replace_folder(out) as new:
        (new / checkpoint.CONFIG).write_bytes((trained.folder / checkpoint.CONFIG).read_bytes())
        (new / LOG).write_bytes(log)
        if trained.model.config.positions == "learned":
            weights = trained.model.state_dict()
            tables = {stack: weights[f"{stack}.embedding.positions"] for stack in STACKS}
            (new / TABLE).write_bytes(safetensors.torch.save(tables))


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    parser = Parser(prog="python -m training.pipeline.row", description=__doc__)
    parser.add_argument("run", type=Path, help="the folder of a complete run")
    parser.add_argument("out", type=Path, help="the row's folder, such as assets/rows/learned")
    options = parser.parse_args(arguments)

    def run() -> None:
        try:
            write_row(options.run, options.out)
        except OSError as error:
            raise ConfigError(unwritable(error, options.out)) from error

    return command.run("training.pipeline.row", run)


if __name__ == "__main__":
    sys.exit(main())
