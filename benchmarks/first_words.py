"""Content words right in what visitors type first, and which translations carry a notice.

A line of the lists has a sentence, a tab, and the words that a right translation holds: `;` stands
between words, `|` between alternatives, and `*` for the rest of a word.
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.machine import describe, table
from transformer import Translation, Translator
from transformer.decoding import BEAM_SIZE
from transformer.decoding.settings import SearchSettings
from transformer.translation.search import Source, TextSearch

LISTS = {"English": "first-words.txt", "German": "first-words-de.txt"}
"""By the language that is read."""


class Sentence(NamedTuple):
    """A sentence, and the alternatives of each word that is expected in its translation."""

    text: str
    words: tuple[tuple[str, ...], ...]

    def missing(self, translation: str) -> list[str]:
        """Return what a translation lacks, each word as its alternatives.

        An alternative with a capital letter must have it: *Lernen* is not *lernen*.
        """
        return ["|".join(word) for word in self.words if not _holds(translation, word)]


def _holds(translation: str, alternatives: Sequence[str]) -> bool:
    for text in alternatives:
        pattern = re.escape(text).replace(r"\*", r"\w*")
        flags = re.IGNORECASE if text.islower() else re.NOFLAG
        if re.search(rf"(?<!\w){pattern}(?!\w)", translation, flags):
            return True
    return False


def read_lines(name: str) -> dict[str, list[str]]:
    """Read the lines of a file beside this one, by the heading above them."""
    written: dict[str, list[str]] = {}
    for line in Path(__file__).with_name(name).read_text("utf-8").splitlines():
        if line.startswith("# "):
            lines = written.setdefault(line.removeprefix("# "), [])
        else:
            lines.append(line)
    return written


def groups(language: str) -> dict[str, list[Sentence]]:
    """Read the sentences of a language, by what they are."""

    def sentence(line: str) -> Sentence:
        text, words = line.split("\t")
        return Sentence(text, tuple(tuple(word.split("|")) for word in words.split("; ")))

    return {name: list(map(sentence, lines)) for name, lines in read_lines(LISTS[language]).items()}


def translated(translator: Translator, texts: Sequence[str]) -> list[Translation]:
    """Translate texts in one batch, which takes a fifth of the time of one after another."""
    sources = [Source(text, translator.reader.text(text)) for text in texts]
    search = TextSearch(translator, sources, SearchSettings(beam_size=BEAM_SIZE))
    while search.unfinished:
        search.step()
    return [search.translation(place) for place in range(len(texts))]


def row_of(name: str, results: Sequence[tuple[Sentence, Translation]]) -> tuple[object, ...]:
    """Count content words, right translations, and notices on wrong and on right ones."""
    missing = [len(sentence.missing(translation.text)) for sentence, translation in results]
    words = sum(len(sentence.words) for sentence, _ in results)
    wrong = sum(map(bool, missing))
    noticed = [bool(lacks) for lacks, (_, t) in zip(missing, results, strict=True) if t.notices]
    return (
        *(name, f"{words - sum(missing)} of {words}", f"{len(results) - wrong} of {len(results)}"),
        *(f"{sum(noticed)} of {wrong}", len(noticed) - sum(noticed)),
    )


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks first-words`."""
    parser = commands.add_parser("first-words", help="content words right, and notices")
    parser.add_argument("--checkpoint", default="bundled", help="a bundled model, or a folder")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Translate, count and print; then every translation that lacks a word."""
    translator = Translator.load(options.checkpoint)
    results = {
        name: list(zip(sentences, translated(translator, [s.text for s in sentences]), strict=True))
        for name, sentences in groups(translator.source_language).items()
    }
    print(describe())
    rows = [row_of(name, part) for name, part in results.items()]
    rows.append(row_of("all", whole := [result for part in results.values() for result in part]))
    header = ("sentences", "content words", "right", "wrong with a notice", "right with one")
    print(table(header, rows))
    for sentence, translation in whole:
        if missing := sentence.missing(translation.text):
            mark = "notice" if translation.notices else "      "
            print(f"{mark}  {sentence.text} → {translation.text}  lacks {'; '.join(missing)}")
