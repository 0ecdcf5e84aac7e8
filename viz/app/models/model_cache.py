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

AT_ONCE = 2  # models that are loaded at the same time; further ones wait, but no other users do

_FILES = (MANIFEST, CONFIG, WEIGHTS, weights.PICKLED, config.TOKENIZER_CONFIG)
"""One of which changes with a model, ours or one of MarianMT."""

Load = Callable[[Path, Progress], Translator]
Waiting = Callable[[], AbstractContextManager[Progress]]


@dataclass(eq=False)
class _Model:
    """A model that is in memory, or on its way there."""

    translator: Future[Translator] = field(default_factory=Future)
    size: int = 0  # bytes, 0 until it is there
    users: int = 0  # that have it, or wait for it
    read: tuple[int, int] = (0, 1)  # bytes that are read, and of how many


class ModelCache:
    """The models that were used last, bounded in bytes of `size_of_model`, for many threads.

    A new model displaces those that were used longest ago until the rest fits. Models in use stay,
    and so does the last one, even if it does not fit by itself.
    """

    def __init__(self, limit: int, load: Load) -> None:
        self.limit = limit
        self._load = load
        self._lock = Lock()
        self._models: OrderedDict[Hashable, _Model] = OrderedDict()
        self._threads = ThreadPoolExecutor(AT_ONCE, "load-model")

    @property
    def size(self) -> int:
        """Bytes of the models that are kept."""
        with self._lock:
            return sum(model.size for model in self._models.values())

    @contextmanager
    def use(self, folder: Path, waiting: Waiting) -> Iterator[Translator]:
        """Yield the model of a folder; `waiting` gets the bytes read, and of how many."""
        key = state_of_folder(folder)
        with self._lock:
            model = self._models.get(key)
            if model is None:
                model = self._models[key] = _Model()
                model.translator = self._threads.submit(self._run, key, folder, model)
            model.users += 1
            self._models.move_to_end(key)
        try:
            if not model.translator.done():
                with waiting() as report:
                    while not wait([model.translator], PATIENCE).done:
                        report(*model.read)
            yield model.translator.result()
        finally:
            with self._lock:
                model.users -= 1
                self._shrink()

    def _run(self, key: Hashable, folder: Path, model: _Model) -> Translator:
        def report(done: int, total: int, _now: str = "", /) -> None:
            model.read = done, total

        try:
            translator = self._load(folder, report)
        except BaseException:
            with self._lock:
                del self._models[key]
            raise
        with self._lock:
            model.size = size_of_model(translator)
            self._models.move_to_end(key)
            self._shrink()
        return translator

    def _shrink(self) -> None:
        loaded = [key for key, model in self._models.items() if model.size]
        for key in loaded[:-1]:  # those of longest ago first
            if sum(model.size for model in self._models.values()) <= self.limit:
                return
            if not self._models[key].users:
                del self._models[key]


def size_of_model(translator: Translator) -> int:
    """Return the bytes of a model with its parameters twice: a search stores them once more."""
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
