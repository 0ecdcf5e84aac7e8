"""Many lines at once: sorted by length within a block, batched by tokens, on several threads.

A step of the search costs least for each row when many rows share it, and padding is computed like
any piece: so a batch holds lines of one length as far as possible. torch releases the interpreter's
lock in its kernels, so threads of one core each keep all cores busy, on one copy of the weights.
"""

import contextvars
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, Generic, TypeAlias, TypeVar

from transformer.decoding import Hypothesis
from transformer.decoding.settings import SearchSettings
from transformer.errors import InputError
from transformer.text.tokenizer import Piece
from transformer.translation.loaded_model import LoadedModel

T = TypeVar("T")

BLOCKS = (32, 256, 4096)
"""Lines of the first block, the second, and each one after: the first lines come soon."""
MAX_CHARACTERS = 2**20  # of a block; its last line may exceed it
MAX_TOKENS = 4096  # of a batch: rows × beam × pieces of its longest source
PARTS = 8
"""Batches that a block has at least, if it has as many lines, so that no core runs out of work."""


@dataclass(frozen=True)
class Line:
    """A line that can be translated, with its number and its pieces, `</s>` last."""

    number: int
    text: str
    pieces: list[Piece]


Result: TypeAlias = T | InputError | None
"""Of one line: None where it is empty, and the error, which names it, where there is one."""


@dataclass(frozen=True)
class LineSearch(Generic[T]):
    """Settings and callbacks of a translation line by line."""

    loaded: LoadedModel  # the model that reads and searches
    settings: SearchSettings  # of every search
    # makes of a line and its hypotheses, best first, what is wanted of it; it may raise InputError
    finish: Callable[[Line, list[Hypothesis]], T]
    # searches at once, each in a copy of the caller's context, where the hooks are; 1 searches in
    # the caller's own thread. With more, `torch.set_num_threads(1)` is wanted.
    threads: int = 1
    # takes the number of lines of each batch that is done
    progress: Callable[[int], None] = lambda _count: None

    def results(
        self, lines: Iterable[str], first: int = 1
    ) -> Generator[list[Result[T]], None, None]:
        """Translate block by block, in order and in bounded memory; an error names its line."""
        stop = threading.Event()
        pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        try:
            for block in _line_blocks(lines):
                results: list[Result[T]] = [None] * len(block)
                good = list(self._read(block, first, results))
                lengths = [len(line.pieces) for line in good]
                most = min(MAX_TOKENS // self.settings.beam_size, -(-sum(lengths) // PARTS))
                parts = [[good[i] for i in rows] for rows in batches(lengths, most)]
                for part, part_results in zip(
                    parts, self._part_results(parts, pool, stop), strict=True
                ):
                    for line, result in zip(part, part_results, strict=True):
                        results[line.number - first] = result
                    self.progress(len(part))
                yield results
                first += len(block)
        finally:
            stop.set()
            if pool is not None:
                pool.shutdown(cancel_futures=True)

    def _read(self, block: list[Any], first: int, results: list[Result[T]]) -> Iterator[Line]:
        """Yield the lines that can be translated; errors of the others go to the results."""
        reader = self.loaded.reader
        for number, text in enumerate(block, start=first):
            if isinstance(text, str) and reader.is_blank(text):
                continue
            try:
                yield Line(number, text, reader.text(text))
            except InputError as error:
                results[number - first] = _named(number, error)

    def _part_results(
        self, parts: list[list[Line]], pool: ThreadPoolExecutor | None, stop: threading.Event
    ) -> Iterable[list[Result[T]]]:
        if pool is None:
            return (self._search(part, stop) for part in parts)
        futures = [
            pool.submit(contextvars.copy_context().run, self._search, part, stop) for part in parts
        ]
        return (future.result() for future in futures)

    def _search(self, lines: list[Line], stop: threading.Event) -> list[Result[T]]:
        if stop.is_set():  # nobody reads the results any more
            return [None] * len(lines)
        try:
            rows = [[piece.id for piece in line.pieces] for line in lines]
            hypotheses = self.loaded.search(rows, self.settings, stop.is_set)
        except InputError as error:  # of one line: forbidden words can leave it no continuation
            if len(lines) == 1:
                return [_named(lines[0].number, error)]
            return [result for line in lines for result in self._search([line], stop)]
        return [self._finished(*pair) for pair in zip(lines, hypotheses, strict=True)]

    def _finished(self, line: Line, hypotheses: list[Hypothesis]) -> Result[T]:
        try:
            return self.finish(line, hypotheses)
        except InputError as error:
            return _named(line.number, error)


def given_results(
    loaded: LoadedModel,
    pairs: Iterable[tuple[str, str]],
    finish: Callable[[int, str, str], T],
    threads: int,
    progress: Callable[[int], None],
) -> Generator[list[Result[T]], None, None]:
    """Finish numbered lines with given translations, block by block as `LineSearch.results`."""

    def result(number: int, pair: tuple[str, str]) -> Result[T]:
        try:
            return None if all(map(loaded.reader.is_blank, pair)) else finish(number, *pair)
        except InputError as error:
            return _named(number, error)

    numbers, unread = count(1), iter(pairs)
    with ThreadPoolExecutor(threads) as pool:
        while block := list(islice(unread, BLOCKS[0])):
            yield list(pool.map(result, islice(numbers, len(block)), block))
            progress(len(block))


def batches(lengths: Sequence[int], most_tokens: int) -> list[list[int]]:
    """Group sequences by lengths into batches of `most_tokens`, rows × longest, longest first."""
    groups: list[list[int]] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if not groups or (len(groups[-1]) + 1) * longest > most_tokens:
            groups.append([])
            longest = lengths[index]
        groups[-1].append(index)
    return groups


def _line_blocks(lines: Iterable[Any]) -> Iterator[list[Any]]:
    """Cut lines into blocks; the sizes are those of `BLOCKS`."""
    sizes = iter(BLOCKS)
    size, characters = next(sizes), 0
    block: list[Any] = []
    for line in lines:
        block.append(line)
        characters += len(line) if isinstance(line, str) else 0  # _read() refuses it
        if len(block) == size or characters > MAX_CHARACTERS:
            yield block
            block, characters = [], 0
            size = next(sizes, size)
    if block:
        yield block


def _named(number: int, error: InputError) -> InputError:
    return InputError(f"Line {number:,}: {error}")
