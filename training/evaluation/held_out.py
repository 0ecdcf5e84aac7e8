"""Text to measure a checkpoint on: nothing of it may be left out without a word."""

from __future__ import annotations

from pathlib import Path

from training.data.corpus import CorpusError, ParallelText, read_files


def read_held_out(source_path: Path, target_path: Path) -> ParallelText:
    """Read two files of which each line is the translation of the other's.

    Raises:
        CorpusError: if a file is missing, a line is empty, or the two differ in length.
    """
    text = read_files(source_path, target_path)
    for path, lines in ((source_path, text.source), (target_path, text.target)):
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                raise CorpusError(f"{path} line {number:,} is empty: remove it from both files.")
    return text
