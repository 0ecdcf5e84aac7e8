"""python -m transformer: translate a sentence, or standard input line by line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import torch

from transformer import InputError, Translator, command
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
        return _translate_lines(translator, options.beam)
    translation = translator.translate(options.text, beam_size=options.beam)
    for notice in translation.notices:
        print(notice, file=sys.stderr)
    print(translation.text)
    return 0


def _translate_lines(translator: Translator, beam_size: int) -> int:
    """Translate standard input, some lines at a time, in order; a bad line stops no other."""
    status, first = 0, 1
    lines = _lines(translator.most_letters)
    while block := list(islice(lines, LINES_AT_ONCE)):
        bad: list[InputError] = []
        translations = translator.translate_lines(
            block, beam_size=beam_size, first=first, refuse=bad.append
        )
        print("\n".join(translations), flush=True)
        for error in bad:
            command.say(f"{NAME}: {error}")
            status = command.REFUSED
        first += len(block)
    return status


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
    return parser


if __name__ == "__main__":
    sys.exit(main())
