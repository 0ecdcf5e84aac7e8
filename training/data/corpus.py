"""Lines of files, and pairs of two files: line N of one is translated by line N of the other."""

import bz2
import errno
import gzip
import lzma
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import IO, Any

from transformer.errors import HeadlightError, unreadable
from transformer.files.lines import cut_lines, refusal
from transformer.files.reading import GIB, MIB, open_bounded

MAX_BYTES = 4 * GIB  # of a file that is held in memory whole
MAX_STREAM_BYTES = 2**50  # of a file that is mapped or read in a stream
MAX_LINE_CHARACTERS = 1_000_000
_MAX_LINE_BYTES = 4 * MAX_LINE_CHARACTERS
BLOCK = 4 * MIB  # that is read at one time
CHUNK = 50_000  # lines that are held at one time
_UNPACKERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
PACKED = tuple(_UNPACKERS)  # extensions of packed files, in lower case


class CorpusError(HeadlightError):
    """Text files that are missing, unreadable, or do not belong together."""


def read_lines(path: Path) -> list[str]:
    """Read the lines of a UTF-8 file."""
    return [line for chunk in line_chunks(path) for line in chunk]


def line_chunks(path: Path, at_most: int = MAX_BYTES) -> Iterator[list[str]]:
    """Yield the lines of a file, unpacked by its ending of `PACKED`, `CHUNK` at a time."""
    lines: list[str] = []
    number = 0  # of the lines that were read
    for block in _whole_lines(path, at_most):
        cut = _split_lines(block, path, number)
        number += len(cut)
        lines += cut
        whole = len(lines) - len(lines) % CHUNK
        for start in range(0, whole, CHUNK):
            yield lines[start : start + CHUNK]
        del lines[:whole]
    if lines:
        yield lines


def blocks(path: Path, at_most: int) -> Iterator[bytes]:
    """Yield the content of a file in blocks, unpacked where its name ends so."""
    try:
        with ExitStack() as stack:
            file: IO[bytes] = stack.enter_context(open_bounded(path, at_most))[0]
            if unpacker := _UNPACKERS.get(path.suffix.lower()):
                file = stack.enter_context(unpacker(file))
            size = 0
            while block := file.read(BLOCK):
                size += len(block)
                if size > at_most:
                    raise OSError(errno.EFBIG, f"it has more than {at_most:,} bytes")
                yield block
    except (OSError, zlib.error, lzma.LZMAError, EOFError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise CorpusError(unreadable(error, path)) from error
        raise CorpusError(f"{path} is damaged, or not packed so: bring it again.") from error


def _whole_lines(path: Path, at_most: int) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks of whole lines, each with its end."""
    content = blocks(path, at_most)
    rest = b""
    while b"\n" not in rest[:-1] and len(rest) <= _MAX_LINE_BYTES:
        if not (block := next(content, b"")):
            break
        rest += block
    if sentence := refusal(rest, path):
        raise CorpusError(sentence)
    for block in chain([b""], content):
        rest += block
        end = 1 + rest.rfind(b"\n")
        # without any line end nothing more is read than what is refused in any case
        if not end and len(rest) > _MAX_LINE_BYTES:
            end = len(rest)
        if end:
            yield rest[:end]
        rest = rest[end:]
    if rest:
        yield rest


def _split_lines(block: bytes, path: Path, number: int) -> list[str]:
    """Split a block into lines; `number` lines of the file stand before it."""
    if len(block) > _MAX_LINE_BYTES and b"\n" not in block:
        raise _too_long(path, number + 1)  # it may end within a character
    try:
        lines = cut_lines(block)
    except UnicodeDecodeError as error:
        line = number + 1 + error.object.count(b"\n", 0, error.start)
        raise CorpusError(
            f"{path} line {line:,} is not UTF-8: convert the file, for example with iconv."
        ) from error
    if max(map(len, lines), default=0) > MAX_LINE_CHARACTERS:
        long = next(i for i, line in enumerate(lines) if len(line) > MAX_LINE_CHARACTERS)
        raise _too_long(path, number + 1 + long)
    return lines


def _too_long(path: Path, line: int) -> CorpusError:
    return CorpusError(
        f"{path} line {line:,} has more than {MAX_LINE_CHARACTERS:,} characters: write one "
        f"sentence a line."
    )


@dataclass(frozen=True)
class ParallelText:
    """Sentences and their translations."""

    source: list[str]
    target: list[str]

    def __len__(self) -> int:
        return len(self.source)


def read_pairs(chunks: Iterable[ParallelText]) -> ParallelText:
    """Put chunks of pairs together."""
    text = ParallelText([], [])
    for chunk in chunks:
        text.source.extend(chunk.source)
        text.target.extend(chunk.target)
    return text


def read_files(source_path: Path, target_path: Path) -> ParallelText:
    """Read two files of which each line is the translation of the other's."""
    return read_pairs(pair_chunks(source_path, target_path))


def pair_chunks(
    source_path: Path, target_path: Path, at_most: int = MAX_BYTES
) -> Iterator[ParallelText]:
    """Yield the pairs of two files, `CHUNK` at a time; the last chunk may be shorter."""
    sides = (line_chunks(path, at_most) for path in (source_path, target_path))
    lines = others = 0
    for source, target in zip_longest(*sides, fillvalue=[]):
        lines, others = lines + len(source), others + len(target)
        if lines == others:
            yield ParallelText(source, target)
    if lines != others:
        raise CorpusError(
            f"{source_path} has {lines:,} lines and {target_path} has {others:,}: each line must "
            f"stand beside its translation."
        )
    if not lines:
        raise CorpusError(f"{source_path} is empty: give at least one sentence.")
