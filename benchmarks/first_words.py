"""Translations of what visitors type first: correct words, log P per subword, and notices.

A line of the lists has a sentence; behind a tab, the words that a right translation holds: `;` is
between words, `|` between alternatives, and `*` for the rest of a word. The sentences were written
for this: none is from the training text. From these figures comes the least log P per subword in
the `domain.json` of a bundled model, below which a translation carries a notice.
"""

import argparse
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.machine import describe, table
from transformer import Translation, Translator
from transformer.checkpoints.domain import per_subword
from transformer.decoding import BEAM_SIZE
from transformer.decoding.settings import SearchSettings
from transformer.translation.search import Source, TextSearch
from viz.app.sentence.source_box import EXAMPLES

LISTS = {"English": "first-words.txt", "German": "first-words-de.txt"}
"""By the language that is read."""
CONNECTIVES = {"English": ("while", "and then"), "German": ("während", "und dann")}


class Sentence(NamedTuple):
    """A sentence, and the alternatives of each word that is expected in its translation."""

    text: str
    words: tuple[tuple[str, ...], ...] = ()

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


def groups(language: str) -> dict[str, list[Sentence]]:
    """Read the sentences of a language by the heading above them; the app's examples are another.

    Two more are made of captions and everyday sentences: in capitals, and run on without an end.
    """
    written: dict[str, list[Sentence]] = {
        "examples of the app": list(map(Sentence, EXAMPLES[language]))
    }
    for line in Path(__file__).with_name(LISTS[language]).read_text("utf-8").splitlines():
        if line.startswith("# "):
            sentences = written.setdefault(line.removeprefix("# "), [])
            continue
        text, _, words = line.partition("\t")
        expected = tuple(tuple(word.split("|")) for word in words.split("; ")) if words else ()
        sentences.append(Sentence(text, expected))
    both = [[text for text, _ in written[name]] for name in ("captions", "everyday sentences")]
    captions, everyday = both
    run_on = [
        " ".join(
            f"{first} {CONNECTIVES[language][n % 2]} {second.lower()}"
            for n, (first, second) in enumerate(
                zip(captions[start::6], everyday[start::6], strict=True)
            )
        ).replace(".", ",")
        for start in range(6)
    ]
    capitals = [text.upper() for text in [*captions, *everyday][::3]]
    return written | {
        "capitals": list(map(Sentence, capitals)),
        "run-on": list(map(Sentence, run_on)),
    }


def translated(translator: Translator, texts: Sequence[str]) -> list[Translation]:
    """Translate texts in one batch, which takes a fifth of the time of one after another."""
    sources = [Source(text, translator.reader.text(text)) for text in texts]
    search = TextSearch(translator, sources, SearchSettings(beam_size=BEAM_SIZE))
    while search.unfinished:
        search.step()
    return [search.translation(place) for place in range(len(texts))]


Results = Sequence[tuple[Sentence, Translation]]


def words_row(name: str, results: Results) -> tuple[object, ...]:
    """Count content words, right translations, and notices on wrong and on right ones."""
    missing = [len(sentence.missing(translation.text)) for sentence, translation in results]
    words = sum(len(sentence.words) for sentence, _ in results)
    wrong = sum(map(bool, missing))
    noticed = [bool(lacks) for lacks, (_, t) in zip(missing, results, strict=True) if t.notices]
    return (
        *(name, f"{words - sum(missing)} of {words}", f"{len(results) - wrong} of {len(results)}"),
        *(f"{sum(noticed)} of {wrong}", len(noticed) - sum(noticed)),
    )


def log_p_row(name: str, results: Results) -> tuple[object, ...]:
    """Count sentences and notices; between them the least, median and largest log P per subword."""
    values = [per_subword(t.log_prob, len(t.best.hypothesis.tokens) - 1) for _, t in results]
    figures = min(values), statistics.median(values), max(values)
    noticed = sum(bool(translation.notices) for _, translation in results)
    return name, len(values), *(f"{figure:.2f}" for figure in figures), noticed


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks first-words`."""
    parser = commands.add_parser("first-words", help="content words right, log P, and notices")
    parser.add_argument("--checkpoint", default="bundled", help="a bundled model, or a folder")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Translate, count and print; between the tables, every translation that lacks a word."""
    translator = Translator.load(options.checkpoint)
    print(f"{describe()}, beam {BEAM_SIZE}")
    with_words: dict[str, Results] = {}
    others: dict[str, Results] = {}
    for name, sentences in groups(translator.source_language).items():
        texts = [sentence.text for sentence in sentences]
        results = list(zip(sentences, translated(translator, texts), strict=True))
        (with_words if any(sentence.words for sentence in sentences) else others)[name] = results
    with_words["all"] = whole = [result for part in with_words.values() for result in part]
    header = ("sentences", "content words", "right", "wrong with a notice", "right with one")
    print(table(header, [words_row(*part) for part in with_words.items()]))
    for sentence, translation in whole:
        if missing := sentence.missing(translation.text):
            mark = "notice" if translation.notices else "      "
            print(f"{mark}  {sentence.text} → {translation.text}  lacks {'; '.join(missing)}")
    figures = ("sentences", "lowest", "median", "highest", "with a notice")
    print(table(("log P per subword", *figures), [log_p_row(*part) for part in others.items()]))
