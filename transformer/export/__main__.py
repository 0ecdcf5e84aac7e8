"""python -m transformer.export ctranslate2: write a checkpoint as a model of another engine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from transformer import command
from transformer.arguments import Parser
from transformer.export import folder
from transformer.export.specification import engine
from transformer.files import ASSETS

NAME = "transformer.export"
EPILOG = (
    "The folder serves python -m transformer --engine ctranslate2 --checkpoint DIR, and any "
    "program that reads CTranslate2 models and SentencePiece: the source ends with </s>."
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    options = _parser().parse_args(arguments)
    return command.run(NAME, lambda: _export(options))


def _export(options: argparse.Namespace) -> None:
    engine()  # before the weights are read
    folder.write(folder.load_to_export(options.checkpoint), options.out, options.quantization)
    model = options.out / folder.REQUIRED[0]
    print(f"{options.out}: {model.stat().st_size / 2**20:.1f} MiB, {options.quantization}.")


def _parser() -> Parser:
    parser = Parser(prog="python -m transformer.export", description=__doc__, epilog=EPILOG)
    parser.add_argument("engine", choices=("ctranslate2",), help="the engine to export to")
    parser.add_argument(
        "--checkpoint",
        type=Path,
        default=ASSETS / "model",
        help="a checkpoint folder; the bundled one unless given",
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument(
        "--quantization",
        choices=folder.QUANTIZATIONS,
        default="none",
        help="type of the stored weights; none, the default, is float32 and exact",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
