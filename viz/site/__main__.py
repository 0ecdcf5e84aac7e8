"""headlight site: a folder of pages for any static host, without a server or a network."""

import sys
from argparse import Namespace
from pathlib import Path

import torch

from transformer import HeadlightError, InputError, Translator
from transformer.cli import command
from transformer.cli.arguments import Parser
from transformer.cli.standard_input import Progress
from transformer.files.installed import BUNDLED, REVERSE
from viz.draw.formatting import counted
from viz.site.folder import require_own, write_site
from viz.site.index_page import index_page
from viz.site.lesson_page import lesson_page
from viz.site.sentence_page import ShownSentence, sentence_page, show_sentence
from viz.site.sentences import MAX_LINES, bundled_sentences, read_sentences

PAGE_BYTES, SITE_BYTES = 1_500_000, 25_000_000
"""Largest size of a page, which a phone opens at once, and of all pages."""


def _run(options: Namespace) -> int:
    # one sentence is decoded fastest on one thread: synchronising costs more than it gains
    torch.set_num_threads(1)
    own = options.sentences and read_sentences(options.sentences)
    require_own(options.out)
    folders = [BUNDLED, REVERSE]
    if options.checkpoint or own:
        folders = [options.checkpoint or BUNDLED]
    progress, status, total = Progress(beside_output=False), 0, 0
    shown: list[ShownSentence] = []
    for translator in map(Translator.load, folders):
        for line in own or bundled_sentences(translator.languages):
            try:
                sentence = show_sentence(translator, line)
                if (size := len(sentence_page(sentence, shown).encode())) > PAGE_BYTES:
                    raise InputError(
                        f"its page has {size:,} bytes, more than {PAGE_BYTES:,}: shorten it."
                    )
            except HeadlightError as error:
                progress.clear()
                command.say(f"viz.site: Line {line.number:,} is left out: {error}")
                status = command.REFUSED
                continue
            shown.append(sentence)
            total += size
            progress.add(1)
            if total > SITE_BYTES:
                raise InputError(
                    f"Up to line {line.number:,} the pages have more than {SITE_BYTES:,} bytes, "
                    "the most that a site may have: give fewer or shorter sentences."
                )
    progress.clear()
    if not shown:
        raise InputError("There is no sentence that can be shown: nothing is written.")
    lesson = lesson_page()
    pages = {sentence.page: sentence_page(sentence, shown) for sentence in shown}
    pages |= {lesson.page: lesson.html, "index.html": index_page(shown, lesson, options.docs)}
    # without .nojekyll, GitHub leaves out the folder _static of the documentation
    files = {name: page.encode() for name, page in pages.items()} | {".nojekyll": b""}
    write_site(options.out, files)
    sizes = [len(content) for content in files.values()]
    print(
        f"{options.out / 'index.html'}: {counted(len(pages), 'page')}, "
        f"{sum(sizes) / 1e6:.1f} MB, the largest {max(sizes) / 1e3:.0f} kB."
    )
    return status


def _parser() -> Parser:
    parser = Parser(prog="headlight site", description=__doc__.partition(": ")[2])
    add = parser.add_argument
    add("-o", "--out", type=Path, required=True, help="a new or empty folder, or an earlier site")
    sentences = f"up to {MAX_LINES} lines that the model reads, instead of the bundled ones; what "
    sentences += "follows a tab stands beside the sentence"
    add("--sentences", type=Path, metavar="FILE", help=sentences)
    add("--checkpoint", type=Path, help="a checkpoint folder; both bundled ones unless given")
    add("--docs", metavar="ADDRESS", default="", help="of the documentation, linked from index")
    return parser


main = command.main("viz.site", _parser, _run)

if __name__ == "__main__":
    sys.exit(main())
