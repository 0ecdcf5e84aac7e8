"""python -m benchmarks training | inference | app | pages | …: measure on this machine."""

import sys
from importlib import import_module

from transformer.cli import command
from transformer.cli.arguments import Parser

NAMES = """
    accessibility age app break_it circuits classroom completeness confidence edges engine failover
    firefox first_words frames hostile huggingface inference layers lesson_layout lessons lines live
    marian models notebook.examples pages parts pictures readers rounded source_share training walk
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
