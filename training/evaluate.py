"""headlight evaluate: measure a checkpoint on a held-out text."""

from training.evaluation import aer, bleu, faithfulness, heads, lines
from transformer.cli import command
from transformer.cli.arguments import Parser

SUBCOMMANDS = (bleu, aer, heads, lines, faithfulness)
"""Modules with `add_arguments(commands)`, which names a function of the parsed options as `run`."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    parser = Parser(prog="headlight evaluate", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    for module in SUBCOMMANDS:
        module.add_arguments(commands)
    options = parser.parse_args(arguments)
    return command.run(parser.prog, lambda: options.run(options))
