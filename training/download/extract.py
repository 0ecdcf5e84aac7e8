"""From archives that pooch has unpacked to `train.en`, `train.de` and their like."""

from __future__ import annotations

import filecmp
import gzip
import os
import random
import re
import shutil
import tarfile
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias
from xml.sax.saxutils import unescape

import pooch

from training.data.corpus import SOURCE, TARGET
from training.download.sources import Source, Text
from transformer.errors import HeadlightError
from transformer.files.atomic import MARK

HELD_OUT_SEED = 1

Pair: TypeAlias = tuple[str, str]

# pooch's processor for an ending, and what it appends to the name of what it unpacks
PROCESSORS: dict[str, tuple[Callable[..., Any], str]] = {
    ".gz": (pooch.Decompress, ".decomp"),
    ".zip": (pooch.Unzip, ".unzip"),
    ".tgz": (pooch.Untar, ".untar"),
}
DAMAGED = (
    gzip.BadGzipFile,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
)
_SEGMENT = re.compile(r"<seg[^>]*>(.*)</seg>")


class DownloadError(HeadlightError):
    """A file that cannot be downloaded, or does not hold what it should."""


def removed(folder: Path, name: str, problem: str) -> DownloadError:
    """Remove an archive that is not as expected, with its content, and return the error."""
    remove_unpacked(folder, name)
    (folder / name).unlink()
    return DownloadError(f"{folder / name} {problem} and was removed: run the same command again.")


def remove_unpacked(folder: Path, name: str) -> None:
    """Remove what was unpacked from an archive, if anything was."""
    unpacked = _unpacked(folder, name)
    if unpacked.is_dir():
        shutil.rmtree(unpacked)
    unpacked.unlink(missing_ok=True)


def _unpacked(folder: Path, where: str) -> Path:
    """Return where pooch puts an unpacked archive or, behind a slash, a file inside it."""
    name, _, member = where.partition("/")
    return folder / f"{name}{PROCESSORS[Path(name).suffix][1]}" / member


def write_splits(source: Source, archives: Path, out: Path) -> dict[str, int]:
    """Write every split; the files get their names together, when all are complete.

    Raises:
        DownloadError: if an archive is not what was expected, or other files have these names.
    """
    splits: dict[str, Iterable[Pair]] = {}
    for text in source.texts:
        splits[text.split] = chain(splits.get(text.split, ()), _pairs(text, archives))
    if source.held_out:
        splits |= _hold_out(list(splits["train"]), source.held_out)
    with tempfile.TemporaryDirectory(prefix=MARK, dir=out) as name:
        work = Path(name)
        counts = {split: _write_split(work, split, pairs) for split, pairs in splits.items()}
        for new in work.iterdir():
            final = out / new.name
            if os.path.lexists(final) and not (final.is_file() and filecmp.cmp(new, final, False)):
                raise DownloadError(
                    f"{final} is there with another content: move it away, or choose another --out."
                )
        for new in list(work.iterdir()):
            new.replace(out / new.name)
    return counts


def _write_split(out: Path, split: str, pairs: Iterable[Pair]) -> int:
    """Write the files of one split; return how many pairs it has."""
    count = 0
    with ExitStack() as stack:
        files = [
            stack.enter_context(
                (out / f"{split}.{language}").open("w", encoding="utf-8", newline="\n")
            )
            for language in (SOURCE, TARGET)
        ]
        for pair in pairs:
            for file, sentence in zip(files, pair, strict=True):
                file.write(sentence + "\n")
            count += 1
    return count


def _pairs(text: Text, archives: Path) -> Iterator[Pair]:
    """Yield the pairs of one text; those with an empty side are left out.

    Raises:
        DownloadError: if an archive is not what was expected.
    """
    count = 0
    try:
        for english, german in _rows(text, archives):
            if english and german:
                count += 1
                yield english, german
    except ValueError as error:  # of zip
        raise DownloadError(
            f"{text.english} and {text.german} differ in length: delete {archives} and run the "
            f"same command again."
        ) from error
    if not count or text.pairs not in (None, count):
        expected = "some" if text.pairs is None else f"{text.pairs:,}"
        raise DownloadError(
            f"{text.english} has {count:,} sentence pairs for {text.split}, but {expected} were "
            f"expected: delete {archives} and run the same command again."
        )


def _rows(text: Text, archives: Path) -> Iterator[Pair]:
    if text.english == text.german:
        for line in _lines(archives, text.english):
            columns = line.split("\t")
            if len(columns) > 1:
                yield _clean(columns[0]), _clean(columns[1])
    else:
        yield from zip(
            _sentences(archives, text.english), _sentences(archives, text.german), strict=True
        )


def _sentences(archives: Path, where: str) -> Iterator[str]:
    """One sentence for each line, or for each `<seg>` of the workshops' own format."""
    for line in _lines(archives, where):
        if not where.endswith(".sgm"):
            yield _clean(line)
        elif segment := _SEGMENT.search(line):
            yield _clean(unescape(segment[1], {"&quot;": '"', "&apos;": "'"}))


def _lines(archives: Path, where: str) -> Iterator[str]:
    """Yield the lines of an unpacked file, split at line feeds alone, as the corpus reader does."""
    name, _, member = where.partition("/")
    try:
        with _unpacked(archives, where).open("rb") as file:
            for line in file:
                yield line.decode("utf-8")
    except FileNotFoundError as error:
        raise removed(archives, name, f"does not hold {member}") from error
    except UnicodeDecodeError as error:
        raise removed(archives, name, f"is not UTF-8 ({error})") from error


def _clean(sentence: str) -> str:
    # a carriage return within a line would be read as its end
    return unicodedata.normalize("NFC", sentence).replace("\r", " ").strip()


def _hold_out(pairs: list[Pair], count: int) -> dict[str, Iterable[Pair]]:
    """Training and validation pairs, none of which share an English or a German sentence."""
    chosen = random.Random(HELD_OUT_SEED).sample(range(len(pairs)), min(count, len(pairs) // 10))
    held_out = [pairs[row] for row in sorted(chosen)]
    english, german = ({pair[side] for pair in held_out} for side in (0, 1))
    train = [pair for pair in pairs if pair[0] not in english and pair[1] not in german]
    return {"train": train, "valid": held_out}
