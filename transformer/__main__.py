"""python -m transformer: translate a sentence, or standard input line by line."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from transformer import HeadlightError, Translator
from transformer.arguments import MAX_BEAM_SIZE, whole_number
from transformer.decoding import BEAM_SIZE

LINES_AT_ONCE = 32


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    options = _parser().parse_args(arguments)
    # one sentence is decoded fastest on one thread: synchronising costs more than it gains
    torch.set_num_threads(1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # ä and ß, whatever the terminal's locale
    try:
        translator = Translator.load(options.checkpoint)
        if options.text is None:
            for line in _lines(translator, options.beam):
                print(line, flush=True)
        else:
            translation = translator.translate(options.text, beam_size=options.beam)
            for notice in translation.notices:
                print(notice, file=sys.stderr)
            print(translation.text)
    except HeadlightError as error:
        print(f"transformer: {error}", file=sys.stderr)
        return 2
    except UnicodeDecodeError as error:
        print(f"transformer: standard input is not UTF-8: {error.reason}.", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # the reader closed the pipe: the flush at exit must not fail
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _lines(translator: Translator, beam_size: int) -> Iterator[str]:
    """Translate standard input, some lines at a time, in order."""
    lines = [line.rstrip("\r\n") for line in sys.stdin]
    for start in range(0, len(lines), LINES_AT_ONCE):
        block = lines[start : start + LINES_AT_ONCE]
        yield from translator.translate_lines(block, beam_size=beam_size, first=start + 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m transformer", description=__doc__)
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
