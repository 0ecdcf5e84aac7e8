"""python -m transformer.export ctranslate2 | marian: write a checkpoint for other programs."""

import argparse
import sys
from pathlib import Path
from typing import Any

from transformer.checkpoints.checkpoint import WEIGHTS
from transformer.checkpoints.export import ctranslate2, marian
from transformer.cli import command
from transformer.cli.arguments import Parser
from transformer.files.installed import BUNDLED

CTRANSLATE2_EPILOG = (
    "Use the folder with python -m transformer --engine ctranslate2 --checkpoint DIR, or with any "
    "program that reads CTranslate2 models and SentencePiece. End the source with </s>."
)
MARIAN_EPILOG = (
    "Use the folder with MarianMTModel.from_pretrained and MarianTokenizer.from_pretrained of "
    "transformers, or with python -m transformer --checkpoint DIR. For CTranslate2, export the "
    "checkpoint itself: its MarianMT converter supports only a start embedding of zeros."
)


def _export_ctranslate2(options: argparse.Namespace) -> None:
    ctranslate2.engine()  # before the weights are read
    loaded = ctranslate2.load_to_export(options.checkpoint)
    ctranslate2.write(loaded, options.out, options.quantization)
    size = _mebibytes(options.out / ctranslate2.REQUIRED[0])
    print(f"{options.out}: {size}, {options.quantization}.")


def _export_marian(options: argparse.Namespace) -> None:
    marian.write(marian.load_to_export(options.checkpoint), options.out)
    print(f"{options.out}: {_mebibytes(options.out / WEIGHTS)}, float32.")


def _mebibytes(path: Path) -> str:
    return f"{path.stat().st_size / 2**20:.1f} MiB"


def _parser() -> Parser:
    parser = Parser(prog="python -m transformer.export", description=__doc__)
    engines = parser.add_subparsers(required=True, dest="engine", metavar="engine")
    name = ctranslate2.ENGINE
    to_ctranslate2 = _engine(engines, name, "a model of CTranslate2", CTRANSLATE2_EPILOG)
    to_ctranslate2.set_defaults(run=_export_ctranslate2)
    to_ctranslate2.add_argument(
        "--quantization",
        choices=ctranslate2.QUANTIZATIONS,
        default="none",
        help="type of the stored weights; default: none, which is float32 and exact",
    )
    to_marian = _engine(engines, marian.ENGINE, "Hugging Face's layout of MarianMT", MARIAN_EPILOG)
    to_marian.set_defaults(run=_export_marian)
    return parser


def _engine(engines: Any, name: str, summary: str, epilog: str) -> argparse.ArgumentParser:
    """Add the parser of one engine, with the options that all engines share."""
    parser: argparse.ArgumentParser = engines.add_parser(
        name, help=summary, description=f"Write a checkpoint as {summary}.", epilog=epilog
    )
    parser.add_argument(
        "--checkpoint",
        type=Path,
        default=BUNDLED,
        help="checkpoint folder; default: the bundled checkpoint",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    return parser


main = command.main("transformer.export", _parser, lambda options: options.run(options))

if __name__ == "__main__":
    sys.exit(main())
