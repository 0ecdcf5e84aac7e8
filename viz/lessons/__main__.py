"""headlight lessons: write, check or print lessons, collect answers."""

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import get_args
from urllib.parse import urlsplit

import torch

from transformer import InputError, Translator
from transformer.cli import command
from transformer.cli.arguments import Parser
from transformer.errors import one_line, shortened
from transformer.files.documents import parse_json
from transformer.files.installed import ASSETS, BUNDLED
from viz.draw import caption
from viz.draw.formatting import counted
from viz.lessons import reading
from viz.lessons.answers import Answers, read_answers
from viz.lessons.collecting import answers_table, cards_table, collect, csv_of
from viz.lessons.grading import answer_key
from viz.lessons.handout import handout
from viz.lessons.lesson import Language
from viz.lessons.wording import missing_names


def _run(options: argparse.Namespace) -> int:
    # one sentence is decoded fastest on one thread: synchronising costs more than it gains
    torch.set_num_threads(1)
    status: int = options.run(options)
    return status


def _check(options: argparse.Namespace) -> int:
    """Print link and answer of each card; the status is 2 if one cannot be asked."""
    translator = Translator.load(options.checkpoint)
    problems: list[str] = []
    for path in options.files:
        try:
            lesson = reading.read_lesson(path)
        except reading.LessonError as error:
            problems.append(str(error))
            continue
        for card, sentence, answer, problem in answer_key(lesson, translator):
            place = f"{path.name}, line {card.line}:"
            if problem:
                line = card.answer.line if card.answer else card.line
                problems.append(f"{path.name}, line {line}: {problem}")
                continue
            named = missing_names(card, sentence) if sentence else ()
            problems += [f"{path.name}, line {line}: {slip}" for line, slip in named]
            right = answer.text if answer else "depends on the student’s sentence"
            print(place, card.view.url if card.view else "–", "→", right if card.ask else "–")
    return _say(problems + _faults_of_views(options.files, options.checkpoint))


def _faults_of_views(files: Sequence[Path], checkpoint: Path) -> list[str]:
    """Return what is wrong with the views: another process opens them in the app."""
    command_line = [sys.executable, "-m", "headlight.opened", *map(str, files)]
    environment = {**os.environ, "HEADLIGHT_CHECKPOINT": str(checkpoint)}
    run = subprocess.run(command_line, capture_output=True, text=True, env=environment)
    if run.returncode:
        return [f"the views could not be opened: {shortened(one_line(run.stderr), 300)}"]
    return [f"{name}, line {line}: {problem}" for name, line, problem in parse_json(run.stdout)]


def _handout(options: argparse.Namespace) -> int:
    """Write a lesson with its answers, as a page to print."""
    command.require_place(options.out)
    lesson, translator = reading.read_lesson(options.file), Translator.load(options.checkpoint)
    made_by = caption.Origin.from_translator(translator, "", "").made_by
    key = list(answer_key(lesson, translator))
    command.save(options.out, handout(lesson, key, made_by, (options.host or "").rstrip("/")))
    return 0


def _host(text: str) -> str:
    """Parse the address of an app, of the form http://192.168.1.5:8501."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an address such as http://192.168.1.5:8501."
        )
    return text


def _new(options: argparse.Namespace) -> int:
    """Write a first lesson, which its author changes."""
    command.require_place(options.out)
    if options.out.exists():
        raise InputError(f"{options.out} is there already: name another file.")
    first = ASSETS / "lessons" / f"new.{options.language}.txt"
    command.save(options.out, first.read_text("utf-8"))
    return 0


def _collect(options: argparse.Namespace) -> int:
    """Print the table of the files of one lesson; the status is 2 if one is left out."""
    if options.out:
        command.require_place(options.out)
    files: list[tuple[str, Answers]] = []
    problems: list[str] = []
    for path in options.files:
        try:
            files.append((str(path), read_answers(path)))
        except InputError as error:
            problems.append(str(error))
    if files:
        name = Counter(answers.lesson for _, answers in files).most_common(1)[0][0]
        # a name in a file is compared with those in the folder, and is never a path
        path = {path.stem: path for path in options.lessons.glob("*.md")}.get(name)
        if path is None:
            raise InputError(f"{options.lessons} has no lesson {name!r}: name its folder.")
        lesson = reading.read_lesson(path)
        students, notes, misfits = collect(files, lesson)
        problems += misfits
        for note in notes:
            command.say(note)
        table = answers_table(lesson, students)
        width, questions = table["name"].str.len().max(), sum(bool(c.ask) for c in lesson.cards)
        for student, right, count, *cells in table.itertuples(index=False):
            print(f"{student:<{width}}  {right} of {count}  {' '.join(cells[:questions])}")
        print(cards_table(lesson, students).to_string(index=False))
        if options.out:
            sys.stdout.flush()  # before a file that may go there, too
            command.save(options.out, csv_of(table).decode())
    if problems:
        problems.append(f"{counted(len(problems), 'file')} of {len(options.files)} left out.")
    return _say(problems)


def _say(problems: Sequence[str]) -> int:
    for problem in problems:
        command.say(problem)
    return command.REFUSED if problems else 0


def _parser() -> Parser:
    parser = Parser(prog="headlight lessons", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    model = Parser(add_help=False)
    help_text = "folder of the model; the bundled one unless given"
    model.add_argument("--checkpoint", type=Path, default=BUNDLED, metavar="DIR", help=help_text)

    new = commands.add_parser("new", help="write a first lesson, for you to change")
    new.add_argument("-o", "--out", type=Path, required=True, help="the lesson file to write")
    new.add_argument("--language", choices=get_args(Language), default="en", help="en unless given")
    new.set_defaults(run=_new)
    check = commands.add_parser("check", help="compute every answer of lessons", parents=[model])
    check.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a lesson file")
    check.set_defaults(run=_check)
    page = commands.add_parser("handout", help="write a lesson as a page to print", parents=[model])
    page.add_argument("file", type=Path, metavar="FILE", help="a lesson file")
    page.add_argument("-o", "--out", type=Path, required=True, help="the file to write")
    help_text = "address of the app, for the link of a class and its QR code"
    page.add_argument("--host", type=_host, metavar="URL", help=help_text)
    page.set_defaults(run=_handout)
    collect = commands.add_parser("collect", help="show the answers files of students as a table")
    add = collect.add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="an answers file")
    add("--lessons", type=Path, default=ASSETS / "lessons", metavar="DIR", help="its lesson file")
    add("-o", "--out", type=Path, help="also write the table there, as CSV")
    collect.set_defaults(run=_collect)
    return parser


main = command.main(_parser, _run)

if __name__ == "__main__":
    sys.exit(main())
