"""headlight export ctranslate2 | marian: write a checkpoint for other programs."""

import argparse
import sys
from pathlib import Path

from transformer.analysis.alignment_settings import read_alignment
from transformer.checkpoints import checkpoint
from transformer.checkpoints.export import ctranslate2, marian
from transformer.cli import arguments, command
from transformer.files import installed
from transformer.translation.loaded_model import LoadedModel

CTRANSLATE2_EPILOG = (
    "Use the folder with any program that reads CTranslate2 models and SentencePiece. End the "
    "source with </s>."
)
MARIAN_EPILOG = (
    "Use the folder with MarianMTModel.from_pretrained and MarianTokenizer.from_pretrained of "
    "transformers, or with headlight translate --checkpoint DIR. For CTranslate2, export the "
    "checkpoint itself: its MarianMT converter supports only a start embedding of zeros."
)


def _export_ctranslate2(options: argparse.Namespace) -> None:
    ctranslate2.engine()  # before the weights are read
    loaded = ctranslate2.load_to_export(installed.checkpoint_folder(options.checkpoint))
    aligning = read_alignment(LoadedModel(loaded))
    head = ctranslate2.AligningHead(aligning.layer, aligning.head)
    ctranslate2.write(loaded, options.out, options.quantization, head)
    _print_size(options.out / ctranslate2.MODEL, options.quantization)


def _export_marian(options: argparse.Namespace) -> None:
    folder = installed.checkpoint_folder(options.checkpoint)
    marian.write(marian.load_to_export(folder), options.out)
    _print_size(options.out / checkpoint.WEIGHTS, "float32")


def _print_size(path: Path, kind: str) -> None:
    print(f"{path.parent}: {path.stat().st_size / 2**20:.1f} MiB, {kind}.")


def _parser() -> arguments.Parser:
    parser = arguments.Parser(prog="headlight export", description=__doc__)
    engines = parser.add_subparsers(required=True, dest="engine", metavar="engine")
    for name, summary, epilog, run in (
        (ctranslate2.ENGINE, "a model of CTranslate2", CTRANSLATE2_EPILOG, _export_ctranslate2),
        (marian.ENGINE, "Hugging Face's layout of MarianMT", MARIAN_EPILOG, _export_marian),
    ):
        engine = engines.add_parser(
            name, help=summary, description=f"Write a checkpoint as {summary}.", epilog=epilog
        )
        engine.set_defaults(run=run)
        model = "checkpoint folder; default: the bundled checkpoint"
        engine.add_argument("--checkpoint", type=Path, default=installed.BUNDLED, help=model)
        engine.add_argument("--out", type=Path, required=True, help="folder to write")
    engines.choices[ctranslate2.ENGINE].add_argument(
        "--quantization",
        choices=ctranslate2.QUANTIZATIONS,
        default="none",
        help="type of the stored weights; default: none, which is float32 and exact",
    )
    return parser


main = command.main(_parser, lambda options: options.run(options))

if __name__ == "__main__":
    sys.exit(main())
