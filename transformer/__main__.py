"""headlight translate: translate a sentence, or standard input line by line; align its words."""

import argparse
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TypeAlias

import torch

from transformer import AttentionTrace, InputError, Translator
from transformer.analysis import alignment, axes
from transformer.analysis.alignment import WordPair, Words
from transformer.analysis.both_directions import align_both, read_both, require_reverse
from transformer.cli import command, cores, standard_input
from transformer.cli.arguments import Parser, number, whole_number
from transformer.decoding import ALPHA, BEAM_SIZE, Hypothesis
from transformer.decoding.settings import MAX_ALPHA, MAX_BEAM_SIZE, SearchSettings
from transformer.text.words import has_unspaced
from transformer.translation.batch import Line, LineSearch, given_results
from transformer.translation.result import Candidate, Translation

EPILOG = (
    "The command reads standard input as UTF-8 and writes one line for each line. If a line cannot "
    "be translated, its output line is empty and the exit status is 2. The reason and the line "
    "number go to standard error. Warnings, such as unknown characters, also go there. With "
    "--n-best, each line gives one line per result, and an empty line gives none. The format is "
    "that of Moses: line number from 0 ||| text ||| score."
)


def _run(options: argparse.Namespace) -> int:
    # a sentence is decoded fastest on one thread, and of a file each core takes its own lines:
    # synchronising costs more than it gains
    torch.set_num_threads(1)
    _refuse_contradictions(options)
    given = {action.dest: getattr(options, action.dest) for action in options.search}
    given = {name: value for name, value in given.items() if value is not None}
    settings = SearchSettings(**{"n_best": 1} | given)
    translator = Translator.load(options.checkpoint)
    align = _aligner(translator, options.reverse)
    if options.text is None:
        return _translate_lines(translator, align, settings, options)
    if options.score:
        scored = translator.score(options.text, options.target)
        _tell(scored.translation.notices)
        for piece, log_prob in zip(scored.pieces, scored.log_probs, strict=True):
            print(f"{piece.text}\t{log_prob:.4f}")
        print(f"log P\t{scored.log_prob:.4f}")
    elif options.target is not None:
        _, links, notices = _given(translator, align, 1, options.text, options.target)
        _tell(notices)
        print(links)
    else:
        translation = translator.translate(options.text, **settings.arguments)
        _tell(translation.notices)
        if options.align:
            trace = translator.trace_of(translation)
            _tell(filter(None, [axes.apart_note(trace)]))
            print(_aligned(align, trace))
        elif options.n_best:
            print(_n_best(translator, 0, [best.hypothesis for best in translation.candidates]))
        else:
            print(translation.text)
    return 0


def _refuse_contradictions(options: argparse.Namespace) -> None:
    """Refuse options that contradict each other, or lack one that they need."""
    if options.align and options.n_best:
        raise InputError("--align and --n-best cannot be had together: leave one out.")
    if options.reverse and not options.align:
        raise InputError("--reverse is a second model to align words by: add --align.")
    given, lines = options.target is not None, options.targets is not None
    if options.score and (options.align or not given):
        raise InputError("--score needs a translation as --target TEXT, and goes without --align.")
    if (given or lines) and not (options.score or options.align):
        raise InputError("--target and --targets give a translation: add --align or --score.")
    if (given or lines) and [given, options.text is not None] != 2 * [not lines]:
        raise InputError("--target goes with one text, --targets with lines on standard input.")
    useless = " and ".join(
        action.option_strings[0]
        for action in options.search
        if getattr(options, action.dest) not in (None, "")
    )
    if useless and (given or lines):
        raise InputError(f"A given translation is not searched for: leave out {useless}.")


_Aligner: TypeAlias = Callable[[AttentionTrace, Words], Iterable[WordPair]]


def _aligner(translator: Translator, folder: Path | None) -> _Aligner:
    """Return the function that pairs words, by a second model where its folder is given."""
    if folder is None:
        return lambda trace, words: alignment.align(translator, trace, words=words)
    reverse = Translator.load(folder)
    require_reverse(translator.languages, reverse.languages)
    settings = read_both(translator, reverse)
    return lambda trace, words: align_both(translator, reverse, trace, settings, words=words)


def _tell(notices: Iterable[str], about: str = "") -> None:
    """Print each notice after the text `about` to standard error; nothing without one."""
    if sys.stderr is not None:  # print() would take standard output for it
        for notice in notices:
            print(f"{about}{notice}", file=sys.stderr)


def _aligned(align: _Aligner, trace: AttentionTrace) -> str:
    """Format a translation with the numbers of its word pairs, as Marian writes them."""
    return f"{trace.target} ||| {_links(align, trace)}".rstrip()


def _links(align: _Aligner, trace: AttentionTrace) -> str:
    return alignment.pharaoh(align(trace, "pieces" if axes.apart_note(trace) else "typed"))


def _given(
    translator: Translator, align: _Aligner, number: int, text: str, target: str
) -> "_Finished":
    trace = translator.trace(text, target)
    notices = translator.warnings(text, (*trace.source_pieces, *trace.target_pieces))
    apart = filter(None, [axes.apart_note(trace)])
    return number, _links(align, trace), (*notices, *apart)


def _n_best(translator: Translator, index: int, hypotheses: list[Hypothesis]) -> str:
    decode = translator.target_tokenizer.decode
    return "\n".join(
        f"{index} ||| {decode(hypothesis.tokens)} ||| {hypothesis.score:.4f}"
        for hypothesis in hypotheses
    )


_Finished: TypeAlias = tuple[int, str, tuple[str, ...]]
"""A line's number, what is printed of it, and what the user should know."""


def _translate_lines(
    translator: Translator,
    align: _Aligner,
    settings: SearchSettings,
    options: argparse.Namespace,
) -> int:
    """Translate standard input, block by block and in order; a bad line stops no other."""

    def finish(line: Line, hypotheses: list[Hypothesis]) -> _Finished:
        notices = translator.warnings(line.text, line.pieces, hypotheses[0], settings)
        text = written(line, hypotheses)
        if options.align and has_unspaced(line.text + text):
            notices = (*notices, axes.APART)
        return line.number, text, notices

    def written(line: Line, hypotheses: list[Hypothesis]) -> str:
        if options.n_best:
            return _n_best(translator, line.number - 1, hypotheses)
        text = translator.target_tokenizer.decode(hypotheses[0].tokens)
        if not options.align or not text.strip():
            return text
        best = Candidate.from_hypothesis(hypotheses[0], translator.target_tokenizer)
        translation = Translation(line.text, tuple(line.pieces), (best,), notices=(), seconds=0.0)
        return _aligned(align, translator.trace_of(translation))

    # an error in the options does not belong to a line
    settings.constraints(translator.reader)
    progress = standard_input.Progress()
    threads = cores.usable_cores()
    status, most = 0, translator.max_characters
    if options.targets is None:
        search = LineSearch(translator, settings, finish, threads, progress.add)
        every = search.results(standard_input.lines(most))
    else:
        pairs = standard_input.pairs(standard_input.NAME, options.targets, most)
        given = partial(_given, translator, align)
        every = given_results(translator, pairs, given, threads, progress.add)
    for results in every:
        progress.clear()
        for result in results:
            if isinstance(result, tuple):
                print(result[1])
            elif not options.n_best:
                print()
        if sys.stdout is not None:  # as where it was closed
            sys.stdout.flush()
        for result in results:
            if isinstance(result, InputError):
                command.say(str(result))
                status = command.REFUSED
            elif result is not None:
                number, _, notices = result
                _tell(notices, about=f"Line {number:,}: ")
    progress.clear()
    return status


def _parser() -> Parser:
    parser = Parser(prog="headlight translate", description=__doc__, epilog=EPILOG)
    add = parser.add_argument
    text = "text in the source language of the model, English for the bundled model; default: "
    add("text", nargs="?", help=f"{text}standard input")
    model = "checkpoint folder; bundled-de-en is the bundled "
    model += "model from German to English; default: that from English to German"
    add("--checkpoint", type=Path, help=model)
    pairs = "print ||| and the word pairs after each translation, in Pharaoh format: source-target "
    pairs += "from 0; words are separated by spaces, or are subwords if there are none; of a given "
    add("--align", action="store_true", help=f"{pairs}translation, print the pairs alone")
    second = "model of the other direction: --align aligns words with both models"
    add("--reverse", type=Path, metavar="CHECKPOINT", help=second)
    add, beam = parser.add_argument_group("search").add_argument, whole_number(1, MAX_BEAM_SIZE)
    alpha = f"α of the length penalty: above 0 favours longer translations; default: {ALPHA}"
    best = "print the N best, at most the beam size: line number ||| text ||| score"
    start = "start of each translation; the search can extend its last word if no space follows"
    word = "whole word that no translation contains, case-sensitive; repeat it for more words"
    most = "maximum subwords of a translation, with </s>; default: those of the source plus 50"
    search = [  # each one's `dest` is a field of `SearchSettings`
        add("--beam", dest="beam_size", type=beam, help=f"1 is greedy; default: {BEAM_SIZE}"),
        add("--alpha", type=number(0, MAX_ALPHA), help=alpha),
        add("--n-best", type=beam, metavar="N", help=best),
        add("--prefix", metavar="TEXT", help=start),
        add("--forbid", dest="forbidden", action="append", metavar="WORD", help=word),
        add("--max-length", type=whole_number(1), metavar="N", help=most),
    ]
    parser.set_defaults(search=search)
    add = parser.add_argument_group("a given translation").add_argument
    log_p = "print log P of each subword of the --target, separated by tabs, and their sum"
    add("--score", action="store_true", help=log_p)
    add("--target", metavar="TEXT", help="translation to score or align")
    add("--targets", metavar="FILE", help="translations to align of lines on standard input")
    return parser


main = command.main(_parser, _run)

if __name__ == "__main__":
    sys.exit(main())
