"""The models in memory, within a bound; each is loaded once for all users."""

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from transformer import Translator
from transformer.analysis.teacher_forcing import Progress
from transformer.checkpoints.checkpoint import CONFIG, MANIFEST, WEIGHTS
from transformer.checkpoints.marian import config, weights
from viz.app.cache.memory import state_of_file

PATIENCE = 0.1
"""Seconds until a run that waits for a model says how far it is, and asks whether it is wanted."""

AT_ONCE = 2
"""Models that are loaded at the same time; further ones wait, but no other users do."""

_FILES = (MANIFEST, CONFIG, WEIGHTS, weights.PICKLED, config.TOKENIZER_CONFIG)
"""One of which changes with a model, ours or one of MarianMT."""

Load = Callable[[Path, Progress], Translator]
Waiting = Callable[[], AbstractContextManager[Progress]]


@dataclass
class _Entry:
    translator: Translator
    size: int
    users: int


@dataclass
class _Loading:
    """A model while it loads."""

    future: Future[_Entry] = field(default_factory=Future)
    users: int = 0  # that wait for it
    read: tuple[int, int] = (0, 1)  # bytes that are read, and of how many
    entry: _Entry | None = None  # once it is there, and counts its users itself


class ModelCache:
    """The models that were used last, bounded in bytes of `size_of_model`, for many threads.

    A new model displaces those that were used longest ago until the rest fits. Models in use stay,
    and so does the last one, even if it does not fit by itself.
    """

    def __init__(self, limit: int, load: Load) -> None:
        self.limit = limit
        self._load = load
        self._lock = Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._loading: dict[Hashable, _Loading] = {}
        self._threads = ThreadPoolExecutor(AT_ONCE, "load-model")

    @property
    def size(self) -> int:
        """Bytes of the models that are kept."""
        with self._lock:
            return self._size()

    @contextmanager
    def use(self, folder: Path, waiting: Waiting) -> Iterator[Translator]:
        """Yield the model of a folder, which stays in memory until the block ends.

        `waiting` is entered while the model loads, and receives the bytes read and their total.
        What it raises ends the waiting, not the loading. After a failure, the next call tries
        again.
        """
        key = state_of_folder(folder)
        entry = self._take(key, folder)
        if isinstance(entry, _Loading):
            entry = self._wait(entry, waiting)
        try:
            yield entry.translator
        finally:
            self._release(entry)

    def _take(self, key: Hashable, folder: Path) -> _Entry | _Loading:
        """Return the loaded or loading model, and count one more user."""
        with self._lock:
            taken = self._entries.get(key) or self._loading.get(key)
            if taken is None:
                taken = self._loading[key] = _Loading()
                taken.future = self._threads.submit(self._run, key, folder, taken)
            elif isinstance(taken, _Entry):
                self._entries.move_to_end(key)
            taken.users += 1
            return taken

    def _wait(self, loading: _Loading, waiting: Waiting) -> _Entry:
        try:
            with waiting() as report:
                while not wait([loading.future], PATIENCE).done:
                    report(*loading.read)
                return loading.future.result()
        except BaseException:  # a run that is ended, too
            self._release(loading)
            raise

    def _release(self, taken: _Entry | _Loading) -> None:
        with self._lock:
            if isinstance(taken, _Loading):
                taken = taken.entry or taken
            taken.users -= 1
            self._shrink()

    def _run(self, key: Hashable, folder: Path, loading: _Loading) -> _Entry:
        def report(done: int, total: int) -> None:
            loading.read = done, total

        entry = None
        try:
            translator = self._load(folder, report)
            entry = _Entry(translator, size_of_model(translator), 0)
            return entry
        finally:
            with self._lock:
                del self._loading[key]
                if entry is not None:
                    entry.users = loading.users
                    loading.entry = self._entries[key] = entry
                    self._shrink()

    def _size(self) -> int:
        return sum(entry.size for entry in self._entries.values())

    def _shrink(self) -> None:
        for key, entry in list(self._entries.items())[:-1]:  # those of longest ago first
            if self._size() <= self.limit:
                return
            if not entry.users:
                del self._entries[key]


def size_of_model(translator: Translator) -> int:
    """Return the size of a model in memory, in bytes: its tables, and its parameters twice.

    A search stores the matrices once more, in a layout for the processor.
    """
    model = translator.model
    stored = [*model.parameters(), *model.buffers(), *model.parameters()]
    return sum(tensor.numel() * tensor.element_size() for tensor in stored)


def state_of_folder(folder: Path) -> Hashable:
    """Return a value that changes when files of a folder are replaced or overwritten."""
    real = os.path.realpath(folder)
    try:
        status = os.stat(real)  # noqa: PTH116
    except OSError:
        return real  # loading says what is wrong with it
    files = tuple(state_of_file(Path(real, name)) for name in _FILES)
    return real, status.st_dev, status.st_ino, status.st_mtime_ns, files
