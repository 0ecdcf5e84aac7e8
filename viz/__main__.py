"""python -m viz: every head on one sentence as an HTML page that works without a network."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from transformer import KINDS, InputError, Translator, command
from transformer.arguments import MAX_BEAM_SIZE, Parser, whole_number
from transformer.atomic import write_file
from transformer.decoding import BEAM_SIZE
from viz.report import report


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    options = _parser().parse_args(arguments)
    # one sentence is decoded fastest on one thread: synchronising costs more than it gains
    torch.set_num_threads(1)
    return command.run("viz", lambda: _write(options))


def _write(options: argparse.Namespace) -> None:
    page = _page(options)
    try:
        # a character that is no text, such as half an emoji, is to stop no report
        write_file(options.out, page.encode("utf-8", errors="replace"))
    except OSError as error:
        raise InputError(f"{options.out} cannot be written: {error.strerror}.") from error


def _page(options: argparse.Namespace) -> str:
    translator = Translator.load(options.checkpoint)
    trace = translator.trace(options.text, options.target, beam_size=options.beam)
    return report(
        trace,
        title=options.title,
        selected=(options.kind, options.layer - 1, options.head - 1),
        words=options.words,
        special=options.special,
        theme=options.theme,
        checkpoint="bundled" if options.checkpoint is None else translator.folder.resolve().name,
    )


def _parser() -> Parser:
    parser = Parser(prog="python -m viz", description=__doc__)
    add = parser.add_argument
    add("text", help="English text")
    add("-o", "--out", type=Path, required=True, help="the page to write, such as report.html")
    add("--checkpoint", type=Path, help="a checkpoint folder; the bundled one unless given")
    add("--target", help="a translation to force; the model's own unless given")
    add(
        "--beam",
        type=whole_number(1, MAX_BEAM_SIZE),
        default=BEAM_SIZE,
        help="beam size; 1 is greedy",
    )
    add("--kind", choices=KINDS, default="cross", help="of the head that is open first")
    add("--layer", type=whole_number(1, 64), default=1, help="its layer, from 1")
    add("--head", type=whole_number(1, 64), default=1, help="its head, from 1")
    add("--words", action="store_true", help="whole words instead of pieces")
    add("--no-special", dest="special", action="store_false", help="leave out <s> and </s>")
    add("--theme", choices=("light", "dark", "auto"), default="auto", help="auto: the reader's own")
    add("--title", default="Where each head looks", help="heading of the page")
    return parser


if __name__ == "__main__":
    sys.exit(main())
