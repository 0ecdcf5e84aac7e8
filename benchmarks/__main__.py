"""python -m benchmarks training | inference | app | pages | …: measure on this machine."""

from __future__ import annotations

import sys

from benchmarks import (
    age,
    app,
    campaign,
    confidence,
    huggingface_traces,
    inference,
    layers,
    lenses,
    marian,
    models,
    notebook,
    notebook_jupyter,
    pages,
    profile,
    readers,
    scale,
    sentences,
    training,
)
from transformer.cli import command
from transformer.cli.arguments import Parser


def main(arguments: list[str] | None = None) -> int:
    """Run one benchmark; the exit status is 2 when something is wrong with what was asked."""
    parser = Parser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="name")
    training.add_arguments(commands)
    inference.add_arguments(commands)
    app.add_arguments(commands)
    pages.add_arguments(commands)
    layers.add_arguments(commands)
    lenses.add_arguments(commands)
    marian.add_arguments(commands)
    models.add_arguments(commands)
    profile.add_arguments(commands)
    readers.add_arguments(commands)
    age.add_arguments(commands)
    scale.add_arguments(commands)
    campaign.add_arguments(commands)
    confidence.add_arguments(commands)
    sentences.add_arguments(commands)
    notebook.add_arguments(commands)
    notebook_jupyter.add_arguments(commands)
    huggingface_traces.add_arguments(commands)
    options = parser.parse_args(arguments)
    return command.run("benchmarks", lambda: options.run(options))


if __name__ == "__main__":
    sys.exit(main())
