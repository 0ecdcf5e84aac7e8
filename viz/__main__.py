"""headlight report: every head on a sentence as an HTML page that needs no network."""

import argparse
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch

from transformer import KINDS, InputError, Translator
from transformer.analysis.lenses import NAMES, VARIANTS, lens_trace
from transformer.cli import command
from transformer.cli.arguments import Parser, whole_number
from transformer.decoding import BEAM_SIZE
from transformer.decoding.settings import MAX_BEAM_SIZE
from viz.draw.heads_view import ExplorerOptions
from viz.report import first_options, report

MEAN = "mean"


def _run(options: argparse.Namespace) -> int:
    # one sentence is decoded fastest on one thread: synchronising costs more than it gains
    torch.set_num_threads(1)
    if options.beam is not None and options.target is not None:
        raise InputError("A given translation is not searched for: leave out --beam.")
    command.require_place(options.out)
    translator = Translator.load(options.checkpoint)
    if options.target is None:
        result = translator.translate(options.text, beam_size=options.beam or BEAM_SIZE)
        trace, notices = translator.trace_of(result), result.notices
    else:
        trace = translator.trace(options.text, options.target)
        pieces = (*trace.source_pieces, *trace.target_pieces)
        notices = translator.warnings(trace.source, pieces)
    noted = replace(trace, notes=(*trace.notes, *notices))
    page = report(
        lens_trace(options.lens, translator, noted),
        first_options(noted, **_chosen(options)),
        theme=options.theme,
        translator=translator,
    )
    command.save(options.out, page)
    return 0


def _chosen(options: argparse.Namespace) -> dict[str, Any]:
    """Convert the options of the command to arguments of `ExplorerOptions`."""
    names = {field.name for field in fields(ExplorerOptions)} & vars(options).keys()
    return {name: getattr(options, name) for name in names}


def _index_or_mean(text: str) -> int | None:
    """Parse the number of a layer or head, from 1, to an index; None for the mean."""
    return None if text == MEAN else whole_number(1, 64)(text) - 1


def _parser() -> Parser:
    parser = Parser(prog="headlight report", description=__doc__)
    add = parser.add_argument
    add("text", help="a text in the language that the model reads")
    add("-o", "--out", type=Path, required=True, help="the page to write, such as report.html")
    add("--checkpoint", type=Path, help="a checkpoint folder; the bundled one unless given")
    add("--target", help="a translation to force; the model's own unless given")
    beam = f"beam size; 1 is greedy, {BEAM_SIZE} unless given"
    add("--beam", type=whole_number(1, MAX_BEAM_SIZE), help=beam)
    first: dict[str, Any] = {"default": argparse.SUPPRESS}  # None would be a mean
    opened = "of the head that is open first; that of the first finding unless given"
    add("--kind", choices=KINDS, help=opened, **first)
    add("--layer", type=_index_or_mean, help="its layer, from 1, or mean", **first)
    add("--head", type=_index_or_mean, help="its head, from 1, or mean", **first)
    lens_help = "through which the heads are seen"
    add("--lens", choices=(*NAMES, *VARIANTS), default="weights", help=lens_help)
    add("--words", action="store_true", help="whole words instead of pieces")
    sinks = "no weight on special tokens and punctuation, each row scaled to the rest"
    add("--without-sinks", dest="sinks", action="store_false", help=sinks)
    add("--theme", choices=("light", "dark", "auto"), default="auto", help="auto: as the browser's")
    return parser


main = command.main(_parser, _run)

if __name__ == "__main__":
    sys.exit(main())
