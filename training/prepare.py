"""python -m training.prepare: a text becomes pieces once, which every process then maps."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from training.config import RunConfig, config_file
from training.data.preparation import Request, prepare
from training.data.prepared import TOKENIZER
from training.data.scan import Cleaning
from training.data.text_folders import add_languages, chosen_endings, data_folder
from transformer.cli import command
from transformer.cli.arguments import Parser, number, whole_number
from transformer.errors import ConfigError, unwritable
from transformer.text.tokenizer import Tokenizer

SAMPLE_LINES = 1_000_000


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    options = _parser().parse_args(arguments)
    return command.run("training.prepare", lambda: _prepare(options))


def _prepare(options: argparse.Namespace) -> None:
    config = RunConfig.load(options.config)
    tokenizer = None
    if options.tokenizer is not None:
        tokenizer = Tokenizer.load(options.tokenizer / TOKENIZER)
        if tokenizer.vocab_size != config.model.vocab_size:
            raise ConfigError(
                f"{options.tokenizer} has {tokenizer.vocab_size:,} pieces, but {options.config} "
                f"says vocab_size = {config.model.vocab_size}: write there what it has."
            )
    endings = chosen_endings(options)
    request = Request(
        folders=tuple(replace(folder, endings=endings) for folder in options.data),
        vocab_size=config.model.vocab_size,
        max_pieces=config.recipe.max_pieces,
        sample_lines=options.sample_lines,
        cleaning=Cleaning(options.longest_words, options.ratio, options.drop_duplicates),
        tokenizer=tokenizer,
    )
    try:
        prepare(request, options.out)
    except OSError as error:
        # what cannot be read raises a HeadlightError
        raise ConfigError(
            f"{unwritable(error, options.out)} Make room, and give the same command to go on."
        ) from error


def _parser() -> Parser:
    parser = Parser(prog="python -m training.prepare", description=__doc__)
    parser.add_argument(
        "--config",
        type=config_file,
        required=True,
        help="TOML file, or the name of a file in training/configs; sets vocab_size and max_pieces",
    )
    parser.add_argument(
        "--data",
        type=data_folder,
        required=True,
        nargs="+",
        metavar="DIR[:WEIGHT]",
        help="folders with train.en and train.de, or train.tsv or train.tmx; WEIGHT is how often "
        "an epoch reads the folder; the first folder also has valid.* or val.*; instead of a "
        "folder, you can give such a file, or the common part of two OPUS file names; .gz is "
        "decompressed",
    )
    add_languages(parser)
    parser.add_argument(
        "--out", type=Path, required=True, help="folder to write, for training.train --data"
    )
    parser.add_argument(
        "--tokenizer",
        type=Path,
        metavar="CHECKPOINT",
        help="use the vocabulary of a checkpoint folder instead of learning one",
    )
    parser.add_argument(
        "--sample-lines",
        type=whole_number(2),
        default=SAMPLE_LINES,
        help="maximum number of lines for learning the vocabulary, drawn from the whole text; "
        f"default: {SAMPLE_LINES:,}",
    )
    parser.add_argument(
        "--longest-words",
        type=whole_number(1),
        help="drop pairs with more words on a side; default: drop none",
    )
    parser.add_argument(
        "--ratio",
        type=number(1, 1_000),
        help="drop pairs in which one side has more than this many times the words of the other; "
        "default: drop none",
    )
    parser.add_argument("--drop-duplicates", action="store_true", help="drop repeated pairs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
