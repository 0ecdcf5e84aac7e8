"""Many lines at once: sorted by length within a block, batched by tokens, on several threads.

A step of the search costs most when few rows share it, and padding is computed like any piece: so a
batch holds lines of one length as far as possible. torch releases the interpreter's lock in its
kernels, so threads with one core each keep all cores busy, on one copy of the weights.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from transformer.errors import InputError

Result = TypeVar("Result")

BLOCKS = (32, 256, 4096)
"""Lines of the first block, the second, and all others: the first ones come soon."""
MOST_CHARACTERS = 2**20
"""Of one block; a line more may exceed it."""
MOST_TOKENS = 4096
"""Of one batch: rows × beam × longest source."""
PARTS = 8
"""Batches that a block has at least, so that no core waits for the last one."""


@dataclass(frozen=True)
class Line:
    """A line that can be translated.

    Args:
        number: counted from that of the first line.
        text: as it was typed.
        ids: its pieces, `</s>` last.
    """

    number: int
    text: str
    ids: list[int]


def translate(
    lines: Iterable[str],
    read: Callable[[str], list[int]],
    search: Callable[[list[Line], Callable[[], bool]], list[Result]],
    *,
    beam_size: int,
    threads: int = 1,
    first: int = 1,
) -> Iterator[list[Result | InputError | None]]:
    """Translate lines, block by block and in order; memory is bounded however many there are.

    Args:
        read: a text to its token ids; raises InputError if it cannot be translated.
        search: takes the lines of a batch, and a function to ask whether it is to stop early; it is
            called in `threads` threads at once, each in a copy of the caller's context, where the
            hooks are.
        beam_size: of the search, for the size of a batch.
        threads: 1 searches in the caller's own. With more, `torch.set_num_threads(1)` is wanted.
        first: number of the first line, by which an error names it.

    Returns:
        For each block a result for each line: None where it is empty, and the error, which names
        its number, where it cannot be translated.
    """
    stop = threading.Event()
    pool = ThreadPoolExecutor(threads) if threads > 1 else None
    try:
        for block in _blocks(lines):
            results: list[Result | InputError | None] = [None] * len(block)
            good = list(_read(block, read, first, results))
            most = _most_tokens(good, beam_size)
            parts = [[good[i] for i in rows] for rows in batches([len(o.ids) for o in good], most)]
            if pool is None:
                found: Iterable[list[Result]] = (search(part, stop.is_set) for part in parts)
            else:
                futures = [
                    pool.submit(contextvars.copy_context().run, search, part, stop.is_set)
                    for part in parts
                ]
                found = (future.result() for future in futures)
            for part, part_results in zip(parts, found, strict=True):
                for line, result in zip(part, part_results, strict=True):
                    results[line.number - first] = result
            yield results
            first += len(block)
    finally:
        stop.set()
        if pool is not None:
            pool.shutdown(cancel_futures=True)


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Cut lines into blocks; the sizes are those of `BLOCKS`."""
    sizes = iter(BLOCKS)
    size, characters = next(sizes), 0
    block: list[str] = []
    for line in lines:
        block.append(line)
        characters += len(line)
        if len(block) == size or characters > MOST_CHARACTERS:
            yield block
            block, characters = [], 0
            size = next(sizes, size)
    if block:
        yield block


def _read(
    block: Sequence[str],
    read: Callable[[str], list[int]],
    first: int,
    results: list[Result | InputError | None],
) -> Iterator[Line]:
    """The lines that can be translated; the errors of the others go to the results."""
    for number, text in enumerate(block, start=first):
        if not text.strip():
            continue
        try:
            yield Line(number, text, read(text))
        except InputError as error:
            results[number - first] = InputError(f"Line {number:,}: {error}")


def _most_tokens(lines: Sequence[Line], beam_size: int) -> int:
    """Source tokens of a batch; never by the number of threads, on which no result may depend."""
    total = sum(len(line.ids) for line in lines)
    return max(1, min(MOST_TOKENS // beam_size, -(-total // PARTS)))


def batches(lengths: Sequence[int], most_tokens: int) -> list[list[int]]:
    """Indices of the sequences of each batch, the longest first.

    Args:
        lengths: of the sequences, none of them 0.
        most_tokens: rows × longest of a batch; a longer sequence is a batch of its own.
    """
    found: list[list[int]] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if not found or (len(found[-1]) + 1) * longest > most_tokens:
            found.append([])
            longest = lengths[index]
        found[-1].append(index)
    return found
