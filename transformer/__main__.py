"""python -m transformer: translate a sentence, or standard input line by line; align its words."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import torch

from transformer import AttentionTrace, InputError, Translator, command
from transformer.analysis import alignment
from transformer.arguments import MAX_BEAM_SIZE, Parser, whole_number
from transformer.decoding import BEAM_SIZE
from transformer.errors import unreadable

NAME = "transformer"
LINES_AT_ONCE = 32
EPILOG = (
    "Standard input is read as UTF-8, and each of its lines gives one line. A line that cannot be "
    "translated gives an empty one and a sentence with its number on standard error; the exit "
    "status is then 2."
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    options = _parser().parse_args(arguments)
    return command.run(NAME, lambda: _translate(options))


def _translate(options: argparse.Namespace) -> int:
    # one sentence is decoded fastest on one thread: synchronising costs more than it gains
    torch.set_num_threads(1)
    translator = Translator.load(options.checkpoint)
    if options.text is None:
        return _translate_lines(translator, options.beam, options.align)
    translation = translator.translate(options.text, beam_size=options.beam)
    for notice in translation.notices:
        print(notice, file=sys.stderr)
    if options.align:
        print(_aligned(translator, translator.trace_of(translation)))
    else:
        print(translation.text)
    return 0


def _aligned(translator: Translator, trace: AttentionTrace) -> str:
    """A translation and the numbers of its word pairs, as Marian writes them."""
    pairs = alignment.align(translator, trace, words="typed")
    return f"{trace.target} ||| {alignment.pharaoh(pairs)}".rstrip()


def _translate_lines(translator: Translator, beam_size: int, align: bool) -> int:
    """Translate standard input, some lines at a time, in order; a bad line stops no other."""
    status, first = 0, 1
    lines = _lines(translator.most_letters)
    while block := list(islice(lines, LINES_AT_ONCE)):
        bad: list[InputError] = []
        translations = translator.translate_lines(
            block, beam_size=beam_size, first=first, refuse=bad.append
        )
        if align:
            translations = [
                _aligned_line(translator, *pair, number, bad)
                for number, pair in enumerate(zip(block, translations, strict=True), start=first)
            ]
        print("\n".join(translations), flush=True)
        for error in bad:
            command.say(f"{NAME}: {error}")
            status = command.REFUSED
        first += len(block)
    return status


def _aligned_line(
    translator: Translator, line: str, translation: str, number: int, bad: list[InputError]
) -> str:
    """As `_aligned`; empty where there is no translation, or its pieces are too many to read."""
    if not translation.strip():
        return ""
    try:
        return _aligned(translator, translator.trace(line, target=translation))
    except InputError as error:
        bad.append(InputError(f"Line {number:,}: {error}"))
        return ""


def _lines(most_letters: int) -> Iterator[str]:
    """The lines of standard input, cut at line feeds alone.

    A byte that is no UTF-8 becomes a surrogate, which the translator refuses; of a line that is too
    long there is as much as it takes to be refused.
    """
    if sys.stdin is None:
        raise InputError("Standard input is closed: give a text, or lines on standard input.")
    most_bytes = 4 * (most_letters + 1)
    try:
        while line := sys.stdin.buffer.readline(most_bytes):
            end = line
            while not end.endswith(b"\n") and (end := sys.stdin.buffer.readline(most_bytes)):
                pass  # too long: to its end
            yield line.decode("utf-8", errors="surrogateescape").rstrip("\r\n")
    except OSError as error:
        raise InputError(unreadable(error, "Standard input")) from error


def _parser() -> Parser:
    parser = Parser(prog="python -m transformer", description=__doc__, epilog=EPILOG)
    parser.add_argument("text", nargs="?", help="English text; standard input unless given")
    parser.add_argument(
        "--beam",
        type=whole_number(1, MAX_BEAM_SIZE),
        default=BEAM_SIZE,
        help="beam size; 1 is greedy",
    )
    parser.add_argument(
        "--checkpoint", type=Path, help="a checkpoint folder; the bundled one unless given"
    )
    parser.add_argument(
        "--align",
        action="store_true",
        help="after each translation ||| and its word pairs in Pharaoh format: source-target, "
        "counted from 0, words as blanks cut them",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
