"""headlight report: every head on a sentence, or on many, as an HTML page that needs no network."""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, get_args

import torch

from transformer import KINDS, InputError, Translator
from transformer.analysis.lenses import NAMES, VARIANTS, lens_trace
from transformer.cli import command, cores, standard_input
from transformer.cli.arguments import Parser, whole_number
from transformer.cli.standard_input import Progress
from transformer.decoding import BEAM_SIZE, Hypothesis
from transformer.decoding.settings import MAX_BEAM_SIZE, SearchSettings
from transformer.trace import AttentionTrace
from transformer.translation.batch import Line, LineSearch, Result, given_results
from transformer.translation.result import Candidate, Translation
from viz.draw.attention_map import Scale
from viz.draw.caption import Origin
from viz.draw.head_grid import LAYER_ORDER, SORTS
from viz.draw.heads_view import ExplorerOptions, HeadsView
from viz.lines import LinesPage, SentenceRecord, pack_sentence
from viz.report import first_options, report
from viz.trace_files import DEFAULT_FORMATS, FORMATS, TraceFiles

MEAN = "mean"
CHUNK = 64
"""Lines that are worked on together, so that memory holds the packed sentences and little more."""
BLANK = "is blank and is left out."


def _run(options: argparse.Namespace) -> int:
    # one sentence is decoded fastest on one thread: synchronising costs more than it gains
    torch.set_num_threads(1)
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
    command.require_place(options.out)
    if options.lines is not None:
        return _write_lines(options, ExplorerOptions(**_chosen(options)))
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
        title=options.title,
        theme=options.theme,
        translator=translator,
    )
    command.save(options.out, page)
    return 0


def _chosen(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options choose for `ExplorerOptions`."""
    names = {field.name for field in fields(ExplorerOptions)} & vars(options).keys()
    return {name: getattr(options, name) for name in names} | {"over": tuple(options.over)}


def _write_lines(arguments: argparse.Namespace, options: ExplorerOptions) -> int:
    """Translate the lines of a file and write the page; return the exit status.

    A line that cannot be shown is named there and on standard error, and the status is 2.
    """
    files = None
    if arguments.traces:
        formats = arguments.trace_formats or DEFAULT_FORMATS
        files = TraceFiles(arguments.traces, formats, options.lens, options.sinks)
        files.require_free()
    translator = Translator.load(arguments.checkpoint)
    # refuse heads that this model does not have, before any line is read
    HeadsView(lens_trace(options.lens, translator, translator.trace("a", "a")), options)
    threads = arguments.threads or cores.usable_cores()
    settings = SearchSettings(beam_size=arguments.beam or BEAM_SIZE, n_best=1)
    lines = _Lines(translator, options, settings, threads, files)
    page, progress, left_out, status = LinesPage(options), Progress(beside_output=False), [], 0
    for number, result in lines.results(arguments.lines, arguments.targets, progress.add):
        if isinstance(result, SentenceRecord):
            page.add(result)
            continue
        sentence = f"Line {number:,} {BLANK}" if result is None else str(result)
        left_out.append(sentence)
        progress.clear()
        command.say(sentence)
        status = status if result is None else command.REFUSED
    progress.clear()
    if not len(page):
        raise InputError(f"{arguments.lines} has no line that can be shown: nothing is written.")
    made_by = Origin.from_translator(translator, "", "").made_by
    about = {"title": arguments.title, "theme": arguments.theme}
    command.save(arguments.out, page.html(**about, made_by=made_by, left_out=left_out))
    return status


@dataclass(frozen=True)
class _Lines:
    """Translation of each line into its record, on as many cores as there are threads."""

    translator: Translator
    options: ExplorerOptions
    settings: SearchSettings
    threads: int
    files: TraceFiles | None

    def results(
        self, sources: str, targets: str | None, progress: Callable[[int], None]
    ) -> Iterator[tuple[int, Result[SentenceRecord]]]:
        """Yield number and result of each line of a file, in order."""
        most = self.translator.max_characters
        if targets is not None:
            pairs = standard_input.pairs(sources, targets, most)
            given = given_results(self.translator, pairs, self._given, self.threads, progress)
            yield from enumerate(chain.from_iterable(given), start=1)
            return
        texts, first = standard_input.named_lines(sources, most), 1
        search = LineSearch(self.translator, self.settings, self._record, self.threads, progress)
        while chunk := list(islice(texts, CHUNK)):
            results = search.results(chunk, first)
            yield from enumerate(chain.from_iterable(results), start=first)
            first += len(chunk)

    def _record(self, line: Line, hypotheses: list[Hypothesis]) -> SentenceRecord:
        best = Candidate.from_hypothesis(hypotheses[0], self.translator.target_tokenizer)
        notices = self.translator.warnings(line.text, line.pieces, hypotheses[0], self.settings)
        translation = Translation(line.text, tuple(line.pieces), (best,), notices, seconds=0.0)
        return self._packed(line.number, self.translator.trace_of(translation), notices)

    def _given(self, number: int, text: str, target: str) -> SentenceRecord:
        trace = self.translator.trace(text, target)
        pieces = (*trace.source_pieces, *trace.target_pieces)
        return self._packed(number, trace, self.translator.warnings(text, pieces))

    def _packed(
        self, number: int, trace: AttentionTrace, notices: tuple[str, ...]
    ) -> SentenceRecord:
        noted = replace(trace, notes=(*trace.notes, *notices))
        shown = lens_trace(self.options.lens, self.translator, noted)
        origin = Origin.from_translator(self.translator, trace.source, trace.target)
        made = pack_sentence(number, shown, self.options, origin)
        if self.files:
            self.files.write(number, shown)
        return made


def _index_or_mean(text: str) -> int | None:
    """Parse the number of a layer or head, from 1, to an index; None for the mean."""
    return None if text == MEAN else whole_number(1, 64)(text) - 1


def _head(text: str) -> tuple[int, int]:
    """Parse a layer and a head such as `3.5`, as the screen counts them."""
    layer, _, head = text.partition(".")
    return whole_number(1, 64)(layer) - 1, whole_number(1, 64)(head) - 1


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a weight from 0 to 1")
    return value


def _parser() -> Parser:
    parser = Parser(prog="headlight report", description=__doc__)
    add = parser.add_argument
    add("text", nargs="?", help="a text in the language that the model reads")
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
    over = "heads whose ribbons lie over its own, such as 3.5; up to seven"
    add("--over", type=_head, nargs="+", default=(), metavar="LAYER.HEAD", help=over)
    add("--sort", choices=SORTS, default=LAYER_ORDER, help="order of the small maps")
    add("--scale", choices=get_args(Scale), default="linear", help="how a weight becomes a colour")
    add("--threshold", type=_share, default=0.0, help="weights below it are not drawn")
    add("--words", action="store_true", help="whole words instead of pieces")
    add("--no-special", dest="special", action="store_false", help="leave out <s> and </s>")
    sinks = "no weight on special tokens and punctuation, each row scaled to the rest"
    add("--without-sinks", dest="sinks", action="store_false", help=sinks)
    add = parser.add_argument_group("many sentences in one page").add_argument
    add("--lines", metavar="FILE", help="one sentence a line instead of the text; - reads them")
    add("--targets", metavar="FILE", help="translations to force, line by line; - reads them")
    add("--traces", type=Path, metavar="DIR", help="also write the weights of each line there")
    formats = f"of these files; {' and '.join(DEFAULT_FORMATS)} unless given"
    add("--trace-formats", choices=FORMATS, nargs="+", help=formats)
    threads = "lines are worked on by so many cores; all that may be used unless given"
    add("--threads", type=whole_number(1, 1024), help=threads)
    add = parser.add_argument
    add("--theme", choices=("light", "dark", "auto"), default="auto", help="auto: the reader's own")
    add("--title", help="heading of the page; what is seen unless given")
    return parser


main = command.main(_parser, _run)

if __name__ == "__main__":
    sys.exit(main())
