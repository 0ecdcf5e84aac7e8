"""headlight site: a page with the model in it, for any static host; nothing leaves the browser."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import torch

from transformer import HeadlightError, InputError, Translator
from transformer.cli import command
from transformer.cli.arguments import Parser
from transformer.cli.standard_input import Progress
from transformer.errors import writing
from transformer.files.atomic import require_room
from transformer.files.installed import ASSETS, BUNDLED, REVERSE, checkpoint_folder
from transformer.text.languages import Side, code_of_name
from viz.draw.formatting import counted
from viz.lessons.reading import read_lesson
from viz.report import anchor, script
from viz.site.folder import require_own, write_site
from viz.site.lesson_page import lesson_page
from viz.site.live_page import (
    ENGINE,
    LESSON_PAGE,
    WORKER,
    Direction,
    StoredSentence,
    live_page,
    store_sentence,
)
from viz.site.model_folder import loaded_bytes, model_files, require_own_format
from viz.site.sentences import MAX_LINES, Line, bundled_sentences, read_sentences
from viz.site.serve import serve

LESSON = ASSETS / "lessons" / "attention.en.md"
PORT = 8600


def _run(options: Namespace) -> int:
    # one sentence is decoded fastest on one thread: synchronising costs more than it gains
    torch.set_num_threads(1)
    lines = options.stored and read_sentences(options.stored)
    require_own(options.out)
    with writing(options.out, InputError):
        require_room(options.out)
    anchor(options.docs, "")
    folders = [options.checkpoint] if options.checkpoint else [BUNDLED, REVERSE]
    translators = [_load(folder) for folder in folders]
    stored, status = _store(translators, lines)
    files: dict[str, bytes] = {".nojekyll": b""}  # else GitHub leaves out docs/_static
    directions = []
    for number, translator in enumerate(translators):
        name = _folder_of(translator)
        model = model_files(translator, int8=options.int8)
        files |= {f"{name}/{file}": content for file, content in model.items()}
        shown = lines or bundled_sentences(translator.languages)
        own = [line for line in shown if _direction_of(line, translators) == number]
        size, rounded = loaded_bytes(model)
        directions.append(Direction(translator, name, size, own, rounded))
    files |= {ENGINE: script("engine").encode(), WORKER: script("service_worker").encode()}
    lesson = read_lesson(LESSON)
    page = lesson_page(lesson, None if options.checkpoint else directions[0])
    index = live_page(directions, stored, lesson.title, options.docs)
    files |= {LESSON_PAGE: page.encode(), "index.html": index.encode()}
    write_site(options.out, files)
    print(
        f"{options.out / 'index.html'}: {counted(len(stored), 'stored sentence')}, "
        f"{counted(len(directions), 'model')}, {sum(map(len, files.values())) / 1e6:.1f} MB."
    )
    if options.serve:
        serve(options.out, options.port)
    return status


def _load(folder: Path) -> Translator:
    path = checkpoint_folder(folder)
    require_own_format(path)
    return Translator.load(path)


def _store(
    translators: Sequence[Translator], lines: Sequence[Line]
) -> tuple[list[StoredSentence], int]:
    """Store the sentences that play without the model; name those that cannot be stored."""
    progress, status = Progress(beside_output=False), 0
    stored = []
    for line in lines or bundled_sentences(translators[0].languages)[:1]:
        direction = _direction_of(line, translators)
        try:
            stored.append(store_sentence(direction, translators[direction], line))
        except HeadlightError as error:
            progress.clear()
            command.say(f"Line {line.number:,} is left out: {error}")
            status = command.REFUSED
        else:
            progress.add(1)
    progress.clear()
    if not stored:
        raise InputError("There is no sentence that can be shown: nothing is written.")
    return stored, status


def _direction_of(line: Line, translators: Sequence[Translator]) -> int:
    """Return the model of a sentence: the second if it is in the language the first writes."""
    return int(len(translators) > 1 and translators[0].languages.mistaken(line.text) is not None)


def _folder_of(translator: Translator) -> str:
    """Name the folder of a model's weights by its languages."""
    codes = [code_of_name(translator.languages.name(side)) for side in get_args(Side)]
    return "-".join(filter(None, codes)) or "model"


def _parser() -> Parser:
    parser = Parser(prog="headlight site", description=__doc__.partition(": ")[2])
    add = parser.add_argument
    folder = "a new or empty folder, or an earlier site; site unless given"
    add("-o", "--out", type=Path, default=Path("site"), help=folder)
    stored = f"up to {MAX_LINES} lines that play without the model; what follows a tab names one"
    add("--stored", type=Path, metavar="FILE", help=stored)
    add("--checkpoint", type=Path, help="a checkpoint folder; both bundled ones unless given")
    rounded = "add weights rounded to 8 bits, which a visitor may choose: a third fewer bytes"
    add("--int8", action="store_true", help=rounded)
    add("--docs", metavar="ADDRESS", default="", help="the documentation, for a link to it")
    add("--serve", action="store_true", help="serve the folder on this machine, for a look at it")
    add("--port", type=int, default=PORT, help=f"of --serve; {PORT} unless given")
    return parser


main = command.main(_parser, _run)

if __name__ == "__main__":
    sys.exit(main())
