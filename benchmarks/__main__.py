"""python -m benchmarks training | app | pages | …: measure, side by side, on this machine."""

from __future__ import annotations

import argparse
import sys

from benchmarks import app, confidence, layers, pages, sentences, training
from transformer.errors import HeadlightError


def main(arguments: list[str] | None = None) -> int:
    """Run one benchmark; the exit status is 2 when something is wrong with what was asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="name")
    training.add_arguments(commands)
    app.add_arguments(commands)
    pages.add_arguments(commands)
    layers.add_arguments(commands)
    confidence.add_arguments(commands)
    sentences.add_arguments(commands)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except HeadlightError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
