"""From archives to `train.en`, `train.de` and their like: one sentence a line, UTF-8, NFC."""

from __future__ import annotations

import gzip
import random
import re
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, cast
from xml.sax.saxutils import unescape

from tqdm import tqdm

from training.corpus import SOURCE, TARGET, CorpusError
from training.sources import Source, Text

SEED = 1  # of the sentences that are held out
_SEGMENT = re.compile(r"<seg[^>]*>(.*)</seg>")
_DAMAGED = (
    gzip.BadGzipFile,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    UnicodeDecodeError,
)

Pair = tuple[str, str]


class UnpackError(CorpusError):
    """An archive that does not hold what it should."""


def unpack(source: Source, archives: Path, out: Path) -> dict[str, int]:
    """Write every split of a source; all files get their names together, when all are whole.

    Args:
        source: what to take out.
        archives: the folder of its archives.
        out: the folder to write in.

    Returns:
        How many pairs each split has.

    Raises:
        UnpackError: if an archive is damaged or lacks a text.
        OSError: if the disk is full.
    """
    splits = dict.fromkeys(text.split for text in source.texts)
    counts: dict[str, int] = {}
    with _new_files(out) as write:
        for split in splits:
            texts = [text for text in source.texts if text.split == split]
            pairs = chain.from_iterable(_pairs(text, archives) for text in texts)
            if split == "train" and source.held_out:
                kept, held_out = _hold_out(list(pairs), source.held_out)
                counts |= {split: write(split, kept), "valid": write("valid", held_out)}
            else:
                counts[split] = write(split, pairs)
    return counts


class _Writer:
    """Writes splits under temporary names.

    Args:
        folder: where to.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written: dict[Path, Path] = {}  # temporary name, final name

    def __call__(self, split: str, pairs: Iterable[Pair]) -> int:
        """Write one split; gives back how many pairs it has."""
        with ExitStack() as stack:
            files = []
            for language in (SOURCE, TARGET):
                final = self.folder / f"{split}.{language}"
                new = final.with_name(final.name + ".new")
                self.written[new] = final
                files.append(stack.enter_context(new.open("w", encoding="utf-8", newline="\n")))
            count = 0
            for pair in tqdm(pairs, desc=split, unit="pair", unit_scale=True, disable=None):
                for file, sentence in zip(files, pair, strict=True):
                    file.write(sentence + "\n")
                count += 1
        return count


@contextmanager
def _new_files(folder: Path) -> Iterator[_Writer]:
    writer = _Writer(folder)
    try:
        yield writer
        for new, final in writer.written.items():
            new.replace(final)
    finally:
        for new in writer.written:
            new.unlink(missing_ok=True)


def _pairs(text: Text, archives: Path) -> Iterator[Pair]:
    """The pairs of one text; those with an empty side are left away.

    Raises:
        UnpackError: if the archive is damaged, or not what was expected.
    """
    count = 0
    try:
        for english, german in _rows(text, archives):
            if english and german:
                count += 1
                yield english, german
    except ValueError as error:  # of zip
        raise UnpackError(
            f"{text.english} and {text.german} differ in length in {archives}: delete the archive "
            f"and run the same command again."
        ) from error
    if not count or text.pairs not in (None, count):
        wanted = "some" if text.pairs is None else f"{text.pairs:,}"
        raise UnpackError(
            f"{archives / text.english} has {count:,} sentence pairs for {text.split}, but "
            f"{wanted} were expected: delete the archive and run the same command again."
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
        elif found := _SEGMENT.search(line):
            yield _clean(unescape(found[1], {"&quot;": '"', "&apos;": "'"}))


def _lines(archives: Path, where: str) -> Iterator[str]:
    """The lines of a file in an archive, cut at line feeds alone, as the corpus reader cuts them.

    Raises:
        UnpackError: if the archive is damaged, or does not hold the file.
    """
    path = archives / where.partition("/")[0]
    try:
        with _open(archives, where) as file:
            for line in file:
                yield line.decode("utf-8")
    except _DAMAGED as error:
        raise UnpackError(
            f"{path} is damaged ({error}): delete it and run the same command again."
        ) from error
    except KeyError as error:
        raise UnpackError(
            f"{path} does not hold {error.args[0]}: delete it and run the same command again."
        ) from error


def _clean(sentence: str) -> str:
    # a carriage return within a line would be read as its end
    return unicodedata.normalize("NFC", sentence).replace("\r", " ").strip()


@contextmanager
def _open(archives: Path, where: str) -> Iterator[IO[bytes]]:
    """A file inside an archive, unpacked as it is read.

    Raises:
        KeyError: if the archive does not hold it.
    """
    name, _, member = where.partition("/")
    path = archives / name
    if path.suffix == ".gz":
        with gzip.open(path) as unpacked:
            yield cast(IO[bytes], unpacked)
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            if member not in archive.namelist():
                raise KeyError(member)
            with archive.open(member) as file:
                yield file
    else:
        with tarfile.open(path) as tar:
            # one by one: looking a name up would first unpack all that comes behind it
            for info in tar:
                if info.name.removeprefix("./") == member and (found := tar.extractfile(info)):
                    with found as file:
                        yield file
                    return
            raise KeyError(member)


def _hold_out(pairs: list[Pair], count: int) -> tuple[list[Pair], list[Pair]]:
    """Training and validation pairs, none of which share an English or a German sentence."""
    chosen = random.Random(SEED).sample(range(len(pairs)), min(count, len(pairs) // 10))
    held_out = [pairs[row] for row in sorted(chosen)]
    english, german = ({pair[side] for pair in held_out} for side in (0, 1))
    kept = [pair for pair in pairs if pair[0] not in english and pair[1] not in german]
    return kept, held_out
