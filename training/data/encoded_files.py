"""An encoded text in five binary files: written some pairs at a time, and then mapped.

What is mapped is in memory once, however many processes read it, and only as far as it is used.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Mapping
from functools import partial
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from training.data.corpus import EncodedText
from training.data.sealed import FileRecord
from training.data.sentences import Sentences
from transformer.files.reading import MIB

SOURCE_PIECES, SOURCE_ENDS = "source.pieces", "source.ends"
TARGET_PIECES, TARGET_ENDS = "target.pieces", "target.ends"
LINES = "lines"
NAMES = (SOURCE_PIECES, SOURCE_ENDS, TARGET_PIECES, TARGET_ENDS, LINES)

Numbers = NDArray[np.integer]


def arrays(text: EncodedText) -> dict[str, Numbers]:
    """Return the arrays that the files of a text hold: pieces, sentence ends, line numbers."""
    return {
        SOURCE_PIECES: text.source.stored,
        SOURCE_ENDS: text.source.ends,
        TARGET_PIECES: text.target.stored,
        TARGET_ENDS: text.target.ends,
        LINES: np.asarray(text.lines, dtype=np.int64),
    }


def types(pieces: DTypeLike) -> dict[str, np.dtype[Any]]:
    """Return the number type of each file, little-endian."""
    ids, numbers = np.dtype(pieces).newbyteorder("<"), np.dtype("<i8")
    return {name: ids if name in (SOURCE_PIECES, TARGET_PIECES) else numbers for name in NAMES}


def checksums(text: EncodedText) -> dict[str, str]:
    """SHA-256 of each file, which need not have been written."""
    dtypes = types(text.source.stored.dtype)
    return {
        name: hashlib.sha256(np.ascontiguousarray(array, dtypes[name]).data).hexdigest()
        for name, array in arrays(text).items()
    }


class EncodedFiles:
    """The five files, open for writing and reading.

    Args:
        files: by name; what they hold already stays.
        pieces: the type of the pieces.
    """

    def __init__(self, files: Mapping[str, BinaryIO], pieces: DTypeLike) -> None:
        self._files, self._types = files, types(pieces)
        self._digests = {name: hashlib.sha256() for name in files}
        for name, file in files.items():
            file.seek(0)
            for block in iter(partial(file.read, MIB), b""):
                self._digests[name].update(block)
        for name in (SOURCE_ENDS, TARGET_ENDS):
            if not files[name].tell():
                self._write(name, np.zeros(1, np.int64))

    def append(self, text: EncodedText) -> None:
        """Write further pairs behind those that are there."""
        further = arrays(text)
        for ends, pieces in ((SOURCE_ENDS, SOURCE_PIECES), (TARGET_ENDS, TARGET_PIECES)):
            there = self._files[pieces].tell() // self._types[pieces].itemsize
            further[ends] = further[ends][1:] + there
        for name, array in further.items():
            self._write(name, array)

    def records(self) -> dict[str, FileRecord]:
        """Size and checksum of each file."""
        return {
            name: {"bytes": file.tell(), "sha256": self._digests[name].hexdigest()}
            for name, file in self._files.items()
        }

    def sync(self) -> None:
        """Wait until all of it is on the disk."""
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())

    def mapped(self, left_out: int) -> EncodedText:
        """Map the text of the files into memory; nothing is read yet."""
        for file in self._files.values():
            file.flush()
        return mapped_text(self._files, self._types[SOURCE_PIECES], left_out)

    def _write(self, name: str, array: Numbers) -> None:
        content = np.ascontiguousarray(array, self._types[name]).data
        self._digests[name].update(content)
        self._files[name].write(content)


def mapped_text(files: Mapping[str, BinaryIO], pieces: DTypeLike, left_out: int) -> EncodedText:
    """Map the text of five files into memory; they may be closed afterwards.

    Raises:
        ValueError: if a file is empty, or ends within a number.
    """
    dtypes = types(pieces)
    arrays = {
        name: np.frombuffer(
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype=dtypes[name]
        )
        for name, file in files.items()
    }
    return EncodedText(
        Sentences.from_ends(arrays[SOURCE_PIECES], arrays[SOURCE_ENDS]),
        Sentences.from_ends(arrays[TARGET_PIECES], arrays[TARGET_ENDS]),
        arrays[LINES],
        left_out,
    )
