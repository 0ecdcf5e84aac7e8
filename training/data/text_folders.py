"""Folders of text in two languages: `train.en` and `train.de`, or one TSV of both."""

import os
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePath
from typing import NamedTuple

from training.config import config_file
from training.data import corpus
from transformer import errors
from transformer.text.languages import Languages, name_of

SOURCE, TARGET = "en", "de"
TRAINING, VALIDATION = "train", ("val", "valid", "validation", "dev")
"""Names of the files of a folder without extension; of the validation text, the first there is."""
TSV = ".tsv"
MAX_WEIGHT = 1_000.0
_NO_CODES = {"src", "tgt", "trg", "ref", "hyp", "source", "target"}
_CODE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")


class LanguageCodes(NamedTuple):
    """Languages of a text, by the extensions of its two files."""

    source: str = SOURCE
    target: str = TARGET

    def __str__(self) -> str:
        return f"{self.source} to {self.target}"

    @property
    def names(self) -> Languages:
        """The languages by their names; a code without one stands for itself."""
        source, target = (name_of(code) or code for code in self)
        return Languages(source, target)


ENGLISH_GERMAN = LanguageCodes()


@dataclass(frozen=True)
class PairFiles:
    """Files of one text: two of lines, or one that holds both sides."""

    paths: tuple[Path, ...]

    def chunks(self, at_most: int = corpus.MAX_STREAM_BYTES) -> Iterator[corpus.ParallelText]:
        """Yield the pairs, some at a time."""
        if len(self.paths) == 2:
            return corpus.pair_chunks(self.paths[0], self.paths[1], at_most)
        return _table_chunks(self.paths[0], at_most)


def _table_chunks(path: Path, at_most: int) -> Iterator[corpus.ParallelText]:
    """Yield the pairs of a TSV, whose two columns are taken as they stand."""
    numbers = count(1)
    for lines in corpus.line_chunks(path, at_most):
        text = corpus.ParallelText([], [])
        for line, number in zip(lines, numbers, strict=False):
            cells = line.split("\t") if line.strip() else ["", ""]
            problem = ""
            if len(cells) != 2:
                problem = f"has {len(cells):,} column(s) and not 2: part the two sides by one tab"
            elif number == 1 and all(name_of(cell) or cell.lower() in _NO_CODES for cell in cells):
                problem = "names columns, and is not a pair: leave it out"
            elif any(c[:1] == c[-1:] == '"' and '""' in c[1:-1] for c in cells):
                problem = "has the quotes of a spreadsheet: save the file without them"
            if problem:
                raise corpus.CorpusError(f"{path} line {number:,} {problem}.")
            text.source.append(cells[0])
            text.target.append(cells[1])
        yield text
    if next(numbers) == 1:
        raise corpus.CorpusError(f"{path} is empty: give at least one pair.")


def _kind(path: Path) -> str:
    """Return the ending of a file in lower case, without that of a packed one."""
    name = path.name.lower()
    return PurePath(
        name[: -len(PurePath(name).suffix)] if name.endswith(corpus.PACKED) else name
    ).suffix


def find_files(prefixes: Iterable[Path], codes: LanguageCodes) -> PairFiles:
    """Find the files of a text: those of the first prefix, before the extension, that has some.

    Two files of lines come before one that holds both sides. Where there are none, the files of
    lines that the last would have are returned: an error names them.
    """
    for prefix in prefixes:
        sides = tuple(_existing(Path(f"{prefix}.{code}")) for code in codes)
        if any(map(os.path.lexists, sides)):
            break
        if os.path.lexists(table := _existing(Path(f"{prefix}{TSV}"))):
            return PairFiles((table,))
        if os.path.lexists(other := _existing(Path(f"{prefix}.csv"))):
            raise _not_read(other, "CSV")
    return PairFiles(sides)


def _not_read(path: Path, kind: str) -> corpus.CorpusError:
    return corpus.CorpusError(
        f"{path} is {kind}, from which no pairs are read: give a TSV of two columns, or the path "
        f"of two files of lines without their extensions."
    )


def _existing(path: Path) -> Path:
    """Return the path, or that of a packed file if such a one alone is there."""
    paths = (path, *(Path(f"{path}{ending}") for ending in corpus.PACKED))
    return next(filter(os.path.lexists, paths), path)


def read_parallel(prefix: Path, codes: LanguageCodes = ENGLISH_GERMAN) -> corpus.ParallelText:
    """Read the text whose files begin with the prefix, such as `prefix.en` and `prefix.de`."""
    return corpus.read_pairs(find_files([prefix], codes).chunks(corpus.MAX_BYTES))


def read_validation_text(
    folder: Path, codes: LanguageCodes = ENGLISH_GERMAN
) -> corpus.ParallelText:
    """Read the validation text of a folder, or of that of a file."""
    folder = folder if _is_folder(folder) else folder.parent
    # where there is none, an error names the last one
    files = find_files([folder / name for name in (*VALIDATION, "valid")], codes)
    return corpus.read_pairs(files.chunks(corpus.MAX_BYTES))


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 — pathlib's raises where the name is too long


@dataclass(frozen=True)
class DataFolder:
    """A folder of text, each of whose pairs an epoch reads as often as its weight says.

    Of 2.5, all twice and every second one once more. In place of a folder, a TSV file, or
    the common beginning of the paths of two files, is its training text.
    """

    path: Path
    weight: float = 1.0
    codes: LanguageCodes = ENGLISH_GERMAN

    def files(self) -> PairFiles:
        """Return the files of the training text."""
        if _is_folder(self.path):
            return find_files([self.path / TRAINING], self.codes)
        kind = _kind(self.path)
        if kind == TSV:
            return PairFiles((self.path,))
        files = find_files([self.path, self.path / TRAINING], self.codes)
        if os.path.lexists(self.path) and not any(map(os.path.lexists, files.paths)):
            raise _not_read(self.path, kind[1:].upper() or "a file")
        return files

    def read(self) -> corpus.ParallelText:
        """Read the training text whole."""
        return corpus.read_pairs(self.files().chunks(corpus.MAX_BYTES))


def data_folder(argument: str) -> DataFolder:
    """Parse `DIR` or `DIR:WEIGHT` for argparse; an existing path with a colon is a folder."""
    path, colon, written = argument.rpartition(":")
    if not colon or not path or Path(argument).exists():
        return DataFolder(Path(argument))
    try:
        weight = float(written)
    except ValueError:
        weight = 0.0
    if not 0 < weight <= MAX_WEIGHT:
        raise ArgumentTypeError(
            f"the weight of '{path}' must be a number above 0, and at most {MAX_WEIGHT:,.0f}, not "
            f"'{written}'"
        )
    return DataFolder(Path(path), weight)


def chosen_codes(options: Namespace, known: LanguageCodes | None = None) -> LanguageCodes:
    """Return the languages of `--source` and `--target`, or what is known of one not given."""
    known = known or ENGLISH_GERMAN
    codes = LanguageCodes(options.source or known.source, options.target or known.target)
    if codes.source == codes.target:
        raise errors.ConfigError(
            f"Source and target are both {codes.source}: give two with --source and --target."
        )
    return codes


def add_text_options(parser: ArgumentParser, *, config: str, data: str) -> None:
    """Add `--config`, `--data`, `--source` and `--target`; the last two are None unless given."""
    parser.add_argument("--config", type=config_file, required=True, help=config)
    parser.add_argument(
        "--data", type=data_folder, required=True, nargs="+", metavar="DIR[:WEIGHT]", help=data
    )
    for name, default in (("source", SOURCE), ("target", TARGET)):
        parser.add_argument(
            f"--{name}",
            type=_code,
            metavar="CODE",
            help=f"code of the {name} language, the extension of its files; default: {default}",
        )


def _code(argument: str) -> str:
    if not _CODE.fullmatch(argument) or argument.lower() in _NO_CODES:
        raise ArgumentTypeError(f"'{argument}' is not a language code such as fr, nld or pt_BR")
    return argument
