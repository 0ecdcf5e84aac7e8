"""python -m benchmarks training | inference | app | pages | …: measure on this machine."""

import sys
from importlib import import_module

from transformer.cli import command
from transformer.cli.arguments import Parser

NAMES = """
    accessibility app break_it circuits classroom engine firefox first_words huggingface inference
    layers lessons live marian notebook pages pictures readers rounded training walk
"""
MODULES = [import_module(f"benchmarks.{name}") for name in NAMES.split()]
"""Each has `add_arguments`, which registers one command or more."""


def main(arguments: list[str] | None = None) -> int:
    """Run one benchmark; the exit status is 2 when something is wrong with what was asked."""
    parser = Parser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="name")
    for module in MODULES:
        module.add_arguments(commands)
    options = parser.parse_args(arguments)
    return command.run("benchmarks", lambda: options.run(options))


if __name__ == "__main__":
    sys.exit(main())
