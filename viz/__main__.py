"""python -m viz: every head on a sentence, or on many, as an HTML page that needs no network."""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import torch

from transformer import KINDS, InputError, Translator
from transformer.analysis.lenses import NAMES, VARIANTS, lens_trace
from transformer.cli import command
from transformer.cli.arguments import Parser, whole_number
from transformer.decoding import BEAM_SIZE
from transformer.decoding.settings import MAX_BEAM_SIZE
from transformer.files.atomic import write_file
from viz.draw.attention_map import Scale
from viz.draw.caption import Origin
from viz.draw.explorer_options import ExplorerOptions
from viz.draw.head_order import LAYER_ORDER, SORTS
from viz.lines_command import write_lines
from viz.report import report
from viz.trace_files import DEFAULT_FORMATS, FORMATS

MEAN = "mean"
MAX_THREADS = 1024


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    options = _parser().parse_args(arguments)
    # one sentence is decoded fastest on one thread: synchronising costs more than it gains
    torch.set_num_threads(1)
    return command.run("viz", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    _require_sense(options)
    if options.lines is not None:
        return write_lines(options, _explorer_options(options))
    _write(options)
    return 0


def _require_sense(options: argparse.Namespace) -> None:
    """Refuse options that say nothing together, or nothing at all."""
    if (options.text is None) == (options.lines is None):
        raise InputError("Give either a text or --lines FILE, and not both.")
    line_options = (options.targets, options.traces, options.threads)
    if options.lines is None and any(option is not None for option in line_options):
        raise InputError("--targets, --traces and --threads go with --lines FILE.")
    if options.traces is None and options.trace_formats is not None:
        raise InputError("--trace-formats goes with --traces DIR.")
    if options.lines is not None and options.target is not None:
        raise InputError("--target is for one text: with --lines, give --targets FILE.")
    if options.beam is not None and (options.target is not None or options.targets is not None):
        raise InputError("A given translation is not searched for: leave out --beam.")


def _write(options: argparse.Namespace) -> None:
    page = _page(options)
    try:
        # a character that is no text, such as half an emoji, is to stop no report
        write_file(options.out, page.encode("utf-8", errors="replace"))
    except OSError as error:
        raise InputError(f"{options.out} cannot be written: {error.strerror}.") from error


def _page(options: argparse.Namespace) -> str:
    translator = Translator.load(options.checkpoint)
    if options.target is None:
        translation = translator.translate(options.text, beam_size=options.beam or BEAM_SIZE)
        trace, notices = translator.trace_of(translation), translation.notices
    else:
        trace = translator.trace(options.text, options.target)
        pieces = (*trace.source_pieces, *trace.target_pieces)
        notices = translator.warnings(trace.source, pieces)
    noted = replace(trace, notes=(*trace.notes, *notices))
    return report(
        lens_trace(options.lens, translator, noted),
        _explorer_options(options),
        title=options.title,
        theme=options.theme,
        origin=Origin.from_translator(translator, trace.source, trace.target),
    )


def _explorer_options(options: argparse.Namespace) -> ExplorerOptions:
    return ExplorerOptions(
        options.kind,
        options.layer,
        options.head,
        words=options.words,
        special=options.special,
        sort=options.sort,
        scale=options.scale,
        threshold=options.threshold,
        over=tuple(options.over),
        lens=options.lens,
    )


def _counted(text: str) -> int | None:
    """Parse a layer or a head as the screen counts it, from 1; None for the mean."""
    return None if text == MEAN else whole_number(1, 64)(text) - 1


def _head(text: str) -> tuple[int, int]:
    """Parse a layer and a head such as `3.5`, as the screen counts them."""
    layer, _, head = text.partition(".")
    return whole_number(1, 64)(layer) - 1, whole_number(1, 64)(head) - 1


def _share(text: str) -> float:
    """Parse a weight, 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no weight from 0 to 1")
    return value


def _parser() -> Parser:
    parser = Parser(prog="python -m viz", description=__doc__)
    add = parser.add_argument
    add("text", nargs="?", help="a text in the language that the model reads")
    add("-o", "--out", type=Path, required=True, help="the page to write, such as report.html")
    add("--checkpoint", type=Path, help="a checkpoint folder; the bundled one unless given")
    add("--target", help="a translation to force; the model's own unless given")
    add(
        "--beam",
        type=whole_number(1, MAX_BEAM_SIZE),
        help=f"beam size; 1 is greedy, {BEAM_SIZE} unless given",
    )
    add("--kind", choices=KINDS, default="cross", help="of the head that is open first")
    add("--layer", type=_counted, default=0, help="its layer, from 1, or mean")
    add("--head", type=_counted, default=0, help="its head, from 1, or mean")
    add(
        "--lens",
        choices=(*NAMES, *VARIANTS),
        default="weights",
        help="through which the heads are seen",
    )
    add(
        "--over",
        type=_head,
        nargs="+",
        default=(),
        metavar="LAYER.HEAD",
        help="heads whose ribbons lie over its own, such as 3.5; up to seven",
    )
    add("--sort", choices=SORTS, default=LAYER_ORDER, help="order of the small maps")
    add("--scale", choices=get_args(Scale), default="linear", help="how a weight becomes a colour")
    add("--threshold", type=_share, default=0.0, help="weights below it are not drawn")
    add("--words", action="store_true", help="whole words instead of pieces")
    add("--no-special", dest="special", action="store_false", help="leave out <s> and </s>")
    _add_lines(parser)
    add("--theme", choices=("light", "dark", "auto"), default="auto", help="auto: the reader's own")
    add("--title", help="heading of the page; what is seen unless given")
    return parser


def _add_lines(parser: Parser) -> None:
    group = parser.add_argument_group("many sentences in one page")
    add = group.add_argument
    add("--lines", metavar="FILE", help="one sentence a line instead of the text; - reads them")
    add("--targets", metavar="FILE", help="translations to force, line by line; - reads them")
    add("--traces", type=Path, metavar="DIR", help="also write the weights of each line there")
    add(
        "--trace-formats",
        choices=FORMATS,
        nargs="+",
        help=f"of these files; {' and '.join(DEFAULT_FORMATS)} unless given",
    )
    add(
        "--threads",
        type=whole_number(1, MAX_THREADS),
        help="lines are worked on by so many cores; all that may be used unless given",
    )


if __name__ == "__main__":
    sys.exit(main())
