"""headlight site: a folder of pages for any static host, without a server or a network."""

import sys
from argparse import Namespace
from pathlib import Path

import torch

from transformer import HeadlightError, InputError, Translator
from transformer.cli import command
from transformer.cli.arguments import Parser
from transformer.cli.standard_input import Progress
from transformer.errors import writing
from transformer.files.atomic import require_room
from transformer.files.installed import BUNDLED, REVERSE
from viz.draw.formatting import counted
from viz.report import anchor
from viz.site.folder import require_own, write_site
from viz.site.index_page import index_page
from viz.site.lesson_page import PAGE, lesson_page
from viz.site.sentence_page import ShownSentence, sentence_page, show_sentence
from viz.site.sentences import MAX_LINES, bundled_sentences, read_sentences

PAGE_BYTES, SITE_BYTES = 1_500_000, 25_000_000
"""Largest size of a page, which a phone opens at once, and of all pages."""


def _run(options: Namespace) -> int:
    # one sentence is decoded fastest on one thread: synchronising costs more than it gains
    torch.set_num_threads(1)
    lines = options.sentences and read_sentences(options.sentences)
    require_own(options.out)
    with writing(options.out, InputError):
        require_room(options.out)
    anchor(options.docs, "")
    both = not (lines or options.checkpoint)
    shown: list[ShownSentence] = []
    files: dict[str, bytes] = {".nojekyll": b""}  # else GitHub leaves out docs/_static
    status = 0
    progress = Progress(beside_output=False)
    for translator in map(Translator.load, (BUNDLED, REVERSE) if both else [options.checkpoint]):
        for line in lines or bundled_sentences(translator.languages):
            try:
                sentence = show_sentence(translator, line)
                page = sentence_page(sentence).encode()
                if (size := len(page)) > PAGE_BYTES:
                    raise InputError(f"Its page has {size:,} bytes; at most {PAGE_BYTES:,} fit.")
            except HeadlightError as error:
                progress.clear()
                command.say(f"Line {line.number:,} is left out: {error}")
                status = command.REFUSED
            else:
                shown.append(sentence)
                files[sentence.page] = page
                progress.add(1)
    progress.clear()
    if not shown:
        raise InputError("There is no sentence that can be shown: nothing is written.")
    lesson = lesson_page()
    index = index_page(shown, lesson.title, options.docs)
    files |= {PAGE: lesson.html.encode(), "index.html": index.encode()}
    sizes = [len(content) for content in files.values()]
    if sum(sizes) > SITE_BYTES:
        raise InputError(
            f"The site has {sum(sizes):,} bytes, but at most {SITE_BYTES:,} fit: give fewer or "
            "shorter sentences."
        )
    write_site(options.out, files)
    print(
        f"{options.out / 'index.html'}: {counted(len(files) - 1, 'page')}, "
        f"{sum(sizes) / 1e6:.1f} MB, the largest {max(sizes) / 1e3:.0f} kB."
    )
    return status


def _parser() -> Parser:
    parser = Parser(prog="headlight site", description=__doc__.partition(": ")[2])
    add = parser.add_argument
    add("-o", "--out", type=Path, required=True, help="a new or empty folder, or an earlier site")
    sentences = f"up to {MAX_LINES} lines that the model reads; the text after a tab is shown above"
    add("--sentences", type=Path, metavar="FILE", help=sentences)
    add("--checkpoint", type=Path, help="a checkpoint folder; both bundled ones unless given")
    add("--docs", metavar="ADDRESS", default="", help="the documentation, for a link to it")
    return parser


main = command.main(_parser, _run)

if __name__ == "__main__":
    sys.exit(main())
