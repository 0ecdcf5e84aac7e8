"""Folders of text in two languages: `train.en` and `train.de`, or both sides in one TSV or TMX."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from training.data import corpus
from training.data.corpus import (
    MOST_BYTES,
    MOST_BYTES_OF_STREAM,
    PACKED,
    CorpusError,
    ParallelText,
    line_chunks,
    pair_chunks,
    read_pairs,
)
from training.data.tmx import Pair, tmx_pairs
from transformer.errors import ConfigError
from transformer.text.languages import Languages, name_of

SOURCE, TARGET = "en", "de"
TRAINING, VALIDATION = "train", ("val", "valid", "validation", "dev")
"""Names of a folder's files before their endings; of the validation text, the first that it has."""
TSV, TMX = ".tsv", ".tmx"
MOST_WEIGHT = 1_000.0
_CODE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")


@dataclass(frozen=True)
class Endings:
    """Endings of the two files of a text, which are the codes of its languages."""

    source: str = SOURCE
    target: str = TARGET

    def __str__(self) -> str:
        return f"{self.source} to {self.target}"

    @property
    def both(self) -> Pair:
        """The two codes."""
        return self.source, self.target

    @property
    def languages(self) -> Languages:
        """The languages by their names; a code without one stands for itself."""
        source, target = (name_of(code) or code for code in self.both)
        return Languages(source, target)


ENGLISH_GERMAN = Endings()


@dataclass(frozen=True)
class PairFiles:
    """Files of one text: two of lines, or one that holds both sides."""

    paths: tuple[Path, ...]
    endings: Endings

    def chunks(self, at_most: int = MOST_BYTES_OF_STREAM) -> Iterator[ParallelText]:
        """Yield the pairs, some at a time.

        Raises:
            CorpusError: if a file cannot be read, holds no pair, or is not as its ending says.
        """
        if len(self.paths) == 2:
            return pair_chunks(self.paths[0], self.paths[1], at_most)
        path, codes = self.paths[0], self.endings.both
        if path.name.removesuffix(PACKED).endswith(TMX):
            return _chunks(tmx_pairs(path, codes, at_most))
        return _chunks(_tsv_pairs(path, self.endings, at_most))

    def side(self, number: int) -> Iterator[list[str]]:
        """Yield the lines of one side, some at a time, as `chunks` does."""
        if len(self.paths) == 2:
            return line_chunks(self.paths[number], MOST_BYTES_OF_STREAM)
        return ((chunk.source, chunk.target)[number] for chunk in self.chunks())


def _chunks(pairs: Iterator[Pair]) -> Iterator[ParallelText]:
    while chunk := list(islice(pairs, corpus.CHUNK)):
        source, target = zip(*chunk, strict=True)
        yield ParallelText(list(source), list(target))


def _tsv_pairs(path: Path, endings: Endings, at_most: int) -> Iterator[Pair]:
    """Yield the pairs of a file of columns: two, or those that its first line names."""
    width, columns, number = 2, (0, 1), 0
    for lines in line_chunks(path, at_most):
        for line in lines:
            number += 1
            cells = line.split("\t")
            if number == 1 and (named := _columns(cells, endings)):
                width, columns = len(cells), named
                continue
            if not line.strip():
                cells = [""] * width
            if len(cells) != width:
                raise CorpusError(
                    f"{path} line {number:,} has {len(cells):,} column(s) and not {width:,}: part "
                    f"the two sides by one tab, or name all columns in the first line, those of "
                    f"the text {endings.source} and {endings.target}."
                )
            yield cells[columns[0]], cells[columns[1]]
    if not number:
        raise CorpusError(f"{path} is empty: give at least one pair.")


def _columns(cells: list[str], endings: Endings) -> tuple[int, int] | None:
    """Return where the first line has the two languages; None where it is no line of titles."""
    titles = [cell.strip().lower() for cell in cells]
    names = endings.languages
    places = []
    for wanted in (
        (endings.source.lower(), names.source.lower(), "source"),
        (endings.target.lower(), names.target.lower(), "target"),
    ):
        places += [titles.index(title) for title in wanted if title in titles][:1]
    return (places[0], places[1]) if len(set(places)) == 2 else None


def find_files(prefix: Path, endings: Endings) -> PairFiles | None:
    """Find the files of a text by what stands before their endings; None if there are none.

    Two files of lines come before one that holds both sides.

    Raises:
        CorpusError: if there are several of the latter.
    """
    plain = [Path(f"{prefix}.{code}") for code in endings.both]
    packed = [Path(f"{path}{PACKED}") for path in plain]
    if any(map(os.path.lexists, (*plain, *packed))):
        sides = zip(plain, packed, strict=True)
        paths = (p if os.path.lexists(p) or not os.path.lexists(z) else z for p, z in sides)
        return PairFiles(tuple(paths), endings)
    single = [Path(f"{prefix}{kind}{end}") for kind in (TSV, TMX) for end in ("", PACKED)]
    there = [path for path in single if os.path.lexists(path)]
    if len(there) > 1:
        raise CorpusError(f"{there[0]} and {there[1]} are both there: leave one in the folder.")
    return PairFiles((there[0],), endings) if there else None


def read_parallel(prefix: Path, endings: Endings = ENGLISH_GERMAN) -> ParallelText:
    """Read the text whose files begin with the prefix, such as `prefix.en` and `prefix.de`."""
    return read_pairs(_files([prefix], endings).chunks(MOST_BYTES))


def read_validation_text(folder: Path, endings: Endings = ENGLISH_GERMAN) -> ParallelText:
    """Read the validation text of a folder, or of that of a file."""
    folder = folder if folder.is_dir() else folder.parent
    # Multi30k's is called val; where there is none, an error names the usual one
    names = (*VALIDATION, "valid")
    return read_pairs(_files([folder / name for name in names], endings).chunks(MOST_BYTES))


def _files(prefixes: Iterable[Path], endings: Endings) -> PairFiles:
    """Return the files of the first prefix that has some, else what the last one would have."""
    for prefix in prefixes:
        if files := find_files(prefix, endings):
            return files
    return PairFiles(tuple(Path(f"{prefix}.{code}") for code in endings.both), endings)


@dataclass(frozen=True)
class DataFolder:
    """A folder of text, each of whose pairs an epoch reads as often as its weight says.

    Of 2.5, all twice and every second one once more. In place of a folder, a TSV or TMX file, or
    what stands before the endings of two files, is its training text.
    """

    path: Path
    weight: float = 1.0
    endings: Endings = ENGLISH_GERMAN

    def files(self) -> PairFiles:
        """Return the files of the training text."""
        if self.path.name.removesuffix(PACKED).endswith((TSV, TMX)) and not self.path.is_dir():
            return PairFiles((self.path,), self.endings)
        prefixes = [self.path / TRAINING]
        if not self.path.is_dir():
            prefixes = [self.path, *prefixes]
        return _files(prefixes, self.endings)

    def read(self) -> ParallelText:
        """Read the training text whole."""
        return read_pairs(self.files().chunks(MOST_BYTES))


def data_folder(argument: str) -> DataFolder:
    """Parse `DIR` or `DIR:WEIGHT` for argparse; an existing path with a colon is a folder.

    Raises:
        ArgumentTypeError: if the weight is not above 0, or more than can be meant.
    """
    path, colon, written = argument.rpartition(":")
    if not colon or not path or Path(argument).exists():
        return DataFolder(Path(argument))
    try:
        weight = float(written)
    except ValueError:
        weight = 0.0
    if not 0 < weight <= MOST_WEIGHT:
        raise ArgumentTypeError(
            f"the weight of '{path}' must be a number above 0, and at most {MOST_WEIGHT:,.0f}, not "
            f"'{written}'"
        )
    return DataFolder(Path(path), weight)


def chosen_endings(options: Namespace, known: Endings = ENGLISH_GERMAN) -> Endings:
    """Return the languages of `--source` and `--target`, or what is known of one not given.

    Raises:
        ConfigError: if both are the same.
    """
    endings = Endings(options.source or known.source, options.target or known.target)
    if endings.source == endings.target:
        raise ConfigError(
            f"Source and target are both {endings.source}: give two with --source and --target."
        )
    return endings


def add_languages(parser: ArgumentParser) -> None:
    """Add `--source` and `--target`, None unless given."""
    for name, default in (("source", SOURCE), ("target", TARGET)):
        parser.add_argument(
            f"--{name}",
            type=_code,
            metavar="CODE",
            help=f"code of the {name} language, with which its files end; {default} unless given",
        )


def _code(argument: str) -> str:
    if not _CODE.fullmatch(argument):
        raise ArgumentTypeError(f"'{argument}' is no code of a language, such as fr, nld or pt_BR")
    return argument
