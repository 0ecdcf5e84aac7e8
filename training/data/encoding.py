"""Encode a text into files, some pairs at a time; a later call goes on where one was stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import BinaryIO

import numpy as np
from tqdm import tqdm

from training.data import encoded_files
from training.data.cleaning import KEPT
from training.data.corpus import EncodedText, ParallelText, encode_chunk
from training.data.encoded_files import EncodedFiles
from training.data.folders import DataFolder
from training.data.scan import Scan, folder_chunks
from training.data.sealed import FileRecord, damaged, read_sealed, write_sealed
from training.data.sentences import stored_type
from transformer.text.tokenizer import Tokenizer

PROGRESS = "progress.json"


@dataclass(frozen=True)
class Progress:
    """Progress of the encoding of a text.

    Args:
        pairs: that were read, dropped ones included.
        rows: that were written of each folder.
        left_out: pairs that were empty or had too many pieces.
        files: size and checksum of each file.
    """

    pairs: int
    rows: tuple[int, ...]
    left_out: int = 0
    files: Mapping[str, FileRecord] = field(default_factory=dict)

    def with_chunk(
        self, folder: int, pairs: int, chunk: EncodedText, files: Mapping[str, FileRecord]
    ) -> Progress:
        """After so many further pairs of a folder."""
        rows = list(self.rows)
        rows[folder] += len(chunk)
        return Progress(self.pairs + pairs, tuple(rows), self.left_out + chunk.left_out, files)


def encode_into(
    out: Path,
    folders: Sequence[DataFolder],
    scan: Scan,
    tokenizer: Tokenizer,
    max_pieces: int,
) -> Progress:
    """Write the files of `encoded_files` into a folder, or what is missing of them.

    What is written is recorded only afterwards; what stands behind it is cut off by the call that
    goes on, so that the files do not depend on where one was stopped.

    Raises:
        CorpusError: if the text cannot be read, or what was written is no longer there.
        OSError: if the files cannot be written.
    """
    progress = _read(out, len(folders))
    print(f"Cutting {len(scan.reasons) - progress.pairs:,} pairs into pieces.")
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(_opened(out / name, progress.files.get(name)))
            for name in encoded_files.NAMES
        }
        written = EncodedFiles(files, stored_type(tokenizer.vocab_size))
        for name, record in written.records().items():
            if record != progress.files.get(name, record):
                raise damaged(out / name)
        bar = stack.enter_context(
            tqdm(
                total=len(scan.reasons), initial=progress.pairs, desc="pieces", unit=" pairs",
                unit_scale=True, disable=None,
            )
        )  # fmt: skip
        for folder, pairs in _remaining(folders, scan, progress.pairs):
            mask = scan.reasons[progress.pairs : progress.pairs + len(pairs)] == KEPT
            chunk = encode_chunk(
                _chosen(pairs, mask.tolist()),
                (tokenizer, tokenizer),
                max_pieces,
                np.flatnonzero(mask) + progress.pairs,
            )
            written.append(chunk)
            written.sync()
            progress = progress.with_chunk(folder, len(pairs), chunk, written.records())
            write_sealed(out / PROGRESS, asdict(progress))
            bar.update(len(pairs))
    return progress


def _remaining(
    folders: Sequence[DataFolder], scan: Scan, done: int
) -> Iterator[tuple[int, ParallelText]]:
    """Yield folder numbers and chunks of pairs after the first `done` pairs of all folders."""
    first = 0
    for number, (folder, pairs) in enumerate(zip(folders, scan.pairs, strict=True)):
        if done >= first + pairs:
            first += pairs
            continue
        for chunk in folder_chunks(folder):
            skipped = max(0, done - first)
            first += len(chunk)
            if skipped < len(chunk):
                yield number, ParallelText(chunk.source[skipped:], chunk.target[skipped:])


def _chosen(pairs: ParallelText, mask: Sequence[bool]) -> ParallelText:
    return ParallelText(list(compress(pairs.source, mask)), list(compress(pairs.target, mask)))


def _read(out: Path, folders: int) -> Progress:
    path = out / PROGRESS
    if not path.exists():
        return Progress(0, (0,) * folders)
    content = read_sealed(path)
    del content["version"]
    progress = Progress(**content)
    return replace(progress, rows=tuple(progress.rows))


def _opened(path: Path, record: FileRecord | None) -> BinaryIO:
    """Open a file for reading and writing, and cut it to the size that was recorded."""
    size = record["bytes"] if record else 0
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
    if file.seek(0, os.SEEK_END) < size:
        file.close()
        raise damaged(path)
    file.truncate(size)
    return file
