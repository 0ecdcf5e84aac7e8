"""python -m viz --lines: the sentences of a file in one page, and the weights of each as files."""

from __future__ import annotations

import argparse
import contextvars
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path

from transformer import InputError, Translator
from transformer.analysis.lenses import lens_trace
from transformer.cli import command, standard_input
from transformer.cli.standard_input import Progress
from transformer.decoding import BEAM_SIZE, Hypothesis
from transformer.decoding.settings import SearchSettings
from transformer.files.atomic import write_file
from transformer.trace import AttentionTrace
from transformer.translation.batch import Line, LineSearch, Result, usable_cores
from transformer.translation.result import Candidate, Translation
from viz.draw.caption import Origin
from viz.draw.explorer import encode_explorer
from viz.draw.explorer_options import ExplorerOptions
from viz.lines_report import LinesPage
from viz.sentence_record import SentenceRecord, pack_sentence
from viz.trace_files import DEFAULT_FORMATS, TraceFiles

STANDARD_INPUT = "-"
CHUNK = 64
"""Lines that are worked on together, so that memory holds the packed sentences and little more."""
BLANK = "is blank and is left out."

Pair = tuple[str, str | None]
"""A line and the translation that is forced, if one is."""


def write_lines(arguments: argparse.Namespace, options: ExplorerOptions) -> int:
    """Translate the lines of a file and write the page; the exit status.

    A line that cannot be shown stops no other: it is named on standard error and in the page, and
    the exit status is 2. Blank lines are named and change no status.

    Raises:
        InputError: if a file cannot be read or written, if the two files do not have as many lines,
            if what is asked for is not there, if no line can be shown, or if the page would be
            larger than it may.
    """
    _require_folder(arguments.out)
    formats = arguments.trace_formats or DEFAULT_FORMATS
    files = TraceFiles(arguments.traces, formats, options.lens) if arguments.traces else None
    if files:
        files.require_free()
    translator = Translator.load(arguments.checkpoint)
    _require_heads(translator, options)
    threads = arguments.threads or usable_cores()
    settings = SearchSettings(beam_size=arguments.beam or BEAM_SIZE, n_best=1)
    lines = _Lines(translator, options, settings, threads, files)
    pairs = _pairs(arguments.lines, arguments.targets, translator.most_letters)
    page, progress, left_out, status = LinesPage(options), Progress(beside_output=False), [], 0
    for number, result in lines.results(pairs, progress.add):
        if isinstance(result, SentenceRecord):
            page.add(result)
            continue
        sentence = f"Line {number:,} {BLANK}" if result is None else str(result)
        left_out.append(sentence)
        progress.clear()
        command.say(f"viz: {sentence}")
        status = status if result is None else command.REFUSED
    progress.clear()
    if not len(page):
        raise InputError(f"{arguments.lines} has no line that can be shown: nothing is written.")
    made_by = Origin.from_translator(translator, "", "").made_by
    content = page.html(
        title=arguments.title, theme=arguments.theme, made_by=made_by, left_out=left_out
    )
    try:
        write_file(arguments.out, content.encode("utf-8", errors="replace"))
    except OSError as error:
        raise InputError(f"{arguments.out} cannot be written: {error.strerror}.") from error
    return status


def _require_folder(out: Path) -> None:
    """Refuse an output folder that is missing, before the page is made.

    Raises:
        InputError: if the folder of the page is missing.
    """
    if not out.absolute().parent.is_dir():
        raise InputError(f"{out} cannot be written: there is no folder {out.parent}.")


def _require_heads(translator: Translator, options: ExplorerOptions) -> None:
    """Refuse heads that this model does not have, before any line is read.

    Raises:
        InputError: if there is no such head.
    """
    encode_explorer(lens_trace(options.lens, translator, translator.trace("a", "a")), options)


@dataclass(frozen=True)
class _Lines:
    """Translation of each line into its record, on as many cores as there are threads."""

    translator: Translator
    options: ExplorerOptions
    settings: SearchSettings
    threads: int
    files: TraceFiles | None

    def results(
        self, pairs: Iterator[Pair], progress: Callable[[int], None]
    ) -> Iterator[tuple[int, Result[SentenceRecord]]]:
        """Yield number and result of each line, in order."""
        first = 1
        while chunk := list(islice(pairs, CHUNK)):
            translate = self._forced if chunk[0][1] is not None else self._searched
            yield from enumerate(translate(chunk, first, progress), start=first)
            first += len(chunk)

    def _searched(
        self, chunk: list[Pair], first: int, progress: Callable[[int], None]
    ) -> Iterator[Result[SentenceRecord]]:
        search = LineSearch(self.translator, self.settings, self._record, self.threads, progress)
        for results in search.results((text for text, _ in chunk), first):
            yield from results

    def _forced(
        self, chunk: list[Pair], first: int, progress: Callable[[int], None]
    ) -> Iterator[Result[SentenceRecord]]:
        with ThreadPoolExecutor(self.threads) as pool:
            futures = [
                pool.submit(contextvars.copy_context().run, partial(self._given, number, *pair))
                for number, pair in enumerate(chunk, start=first)
            ]
            try:
                for future in futures:
                    yield future.result()
                    progress(1)
            finally:  # who stops is not kept waiting for the rest
                pool.shutdown(cancel_futures=True)

    def _record(self, line: Line, hypotheses: list[Hypothesis]) -> SentenceRecord:
        best = Candidate.from_hypothesis(hypotheses[0], self.translator.target_tokenizer)
        notices = self.translator.warnings(line.text, line.pieces, hypotheses[0], self.settings)
        translation = Translation(line.text, tuple(line.pieces), (best,), notices, seconds=0.0)
        return self._packed(line.number, self.translator.trace_of(translation), notices)

    def _given(self, number: int, text: str, target: str | None) -> Result[SentenceRecord]:
        if self.translator.reader.is_blank(text):
            return None
        try:
            trace = self.translator.trace(text, target)
            pieces = (*trace.source_pieces, *trace.target_pieces)
            return self._packed(number, trace, self.translator.warnings(text, pieces))
        except InputError as error:
            return InputError(f"Line {number:,}: {error}")

    def _packed(
        self, number: int, trace: AttentionTrace, notices: tuple[str, ...]
    ) -> SentenceRecord:
        noted = replace(trace, notes=(*trace.notes, *notices))
        shown = lens_trace(self.options.lens, self.translator, noted)
        made = pack_sentence(
            number,
            shown,
            self.options,
            Origin.from_translator(self.translator, trace.source, trace.target),
        )
        if self.files:
            self.files.write(number, shown)
        return made


def _pairs(sources: str, targets: str | None, most_letters: int) -> Iterator[Pair]:
    """Yield the lines of one file, or pairs of lines of two files.

    Raises:
        InputError: if a file cannot be read, or one has more lines than the other.
    """
    if targets is None:
        for line in _lines(sources, most_letters):
            yield line, None
        return
    if sources == targets == STANDARD_INPUT:
        raise InputError("--lines and --targets cannot both be standard input: name a file.")
    both = zip_longest(_lines(sources, most_letters), _lines(targets, most_letters))
    for number, (source, target) in enumerate(both, start=1):
        if source is None or target is None:
            raise InputError(
                f"{sources if source is None else targets} ends before line {number:,}, which the "
                "other file has: give each line its translation."
            )
        yield source, target


def _lines(name: str, most_letters: int) -> Iterator[str]:
    if name == STANDARD_INPUT:
        return standard_input.lines(most_letters)
    return standard_input.file_lines(name, most_letters)
