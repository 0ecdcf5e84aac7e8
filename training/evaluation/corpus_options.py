"""Options of the commands that measure a model on a corpus, and the loading of that model."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from training.evaluation.beside import require_place
from transformer import Translator
from transformer.cli.arguments import whole_number


def corpus_options(sentences: int) -> argparse.ArgumentParser:
    """Make the parent of their parsers; references are an option of each command.

    Args:
        sentences: how many are drawn unless the user says so.
    """
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--checkpoint", type=Path, help="the bundled one unless given")
    parser.add_argument(
        "--src", type=Path, required=True, help="what is translated, one sentence a line"
    )
    parser.add_argument(
        "--out", type=Path, help="write the report here, and not beside the checkpoint"
    )
    parser.add_argument(
        "--sentences",
        type=whole_number(1),
        default=sentences,
        help=f"at most so many, drawn at random; {sentences:,} unless given",
    )
    parser.add_argument("--seed", type=whole_number(0), default=0, help="of all that is drawn")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    return parser


def load_translator(options: argparse.Namespace, *names: str) -> Translator:
    """Load the checkpoint of the options, on a GPU where there is one.

    Raises:
        CheckpointError: if it cannot be loaded, or the report cannot be written where it is to be.
    """
    translator = Translator.load(options.checkpoint)
    require_place(translator.folder, options.out, names)
    if torch.cuda.is_available():
        translator.model.to("cuda")
    return translator
