"""Models in memory: loaded once for everybody, bounded, and never taken from who uses them."""

import gc
import os
import shutil
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from transformer import CheckpointError, Translator
from transformer.analysis.teacher_forcing import Progress
from transformer.checkpoints import checkpoint
from viz.app.models import model_cache
from viz.app.models.model_cache import ModelCache, size_of_model

LONG = 20.0  # seconds that nothing here takes


class Model:
    """Stands for a translator of 10 bytes."""

    def __init__(self, name: str) -> None:
        self.name = name


class Loader:
    """Loads as quickly as it is let."""

    def __init__(self) -> None:
        self.loaded: list[str] = []
        self.go: dict[str, threading.Event] = {}  # by name; what has none is not held
        self.begun = threading.Event()  # set as the loading of a held one begins
        self.alive: list[weakref.ref[Model]] = []

    def __call__(self, folder: Path, progress: Progress) -> Any:
        self.loaded.append(folder.name)
        if folder.name in self.go:
            self.begun.set()
            progress(3, 4)
            assert self.go[folder.name].wait(LONG)
        if folder.name.startswith("damaged"):
            raise CheckpointError(f"{folder.name} is damaged.")
        model = Model(folder.name)
        self.alive.append(weakref.ref(model))
        return model

    def in_memory(self) -> set[str]:
        gc.collect()
        return {model.name for reference in self.alive if (model := reference()) is not None}


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> Loader:
    monkeypatch.setattr(model_cache, "size_of_model", lambda _: 10)
    monkeypatch.setattr(model_cache, "PATIENCE", 0.01)
    return Loader()


@contextmanager
def patient() -> Iterator[Progress]:
    yield lambda *_: None


def name_of(cache: ModelCache, name: str) -> str:
    with cache.use(Path(name), patient) as model:
        return str(vars(model)["name"])


def test_those_used_longest_ago_leave(loader: Loader) -> None:
    cache = ModelCache(30, loader)
    for name in ("a", "b", "c", "a", "d", "a", "b"):
        assert name_of(cache, name) == name
        assert cache.size <= cache.limit
    assert loader.loaded == ["a", "b", "c", "d", "b"]
    assert loader.in_memory() == {"d", "a", "b"}


def test_one_in_use_stays_until_its_last_user_goes(loader: Loader) -> None:
    cache = ModelCache(20, loader)
    with cache.use(Path("a"), patient), ExitStack() as second:
        second.enter_context(cache.use(Path("a"), patient))
        for name in ("b", "c", "d"):
            name_of(cache, name)
        assert loader.in_memory() == {"a", "d"}
        second.close()
        name_of(cache, "e")
        assert loader.in_memory() == {"a", "e"}
    # with all in use the bound is passed, and kept again afterwards
    with ExitStack() as everybody:
        for name in ("a", "e", "f"):
            everybody.enter_context(cache.use(Path(name), patient))
        assert cache.size == 30
    assert cache.size == 20
    assert loader.in_memory() == {"a", "f"}  # e was let go while a was still in use
    small = ModelCache(5, loader)  # one that does not fit stays until another is used
    for name in ("large", "large", "other"):
        name_of(small, name)
    assert loader.loaded[-2:] == ["large", "other"]
    assert "large" not in loader.in_memory()


def test_two_who_ask_for_one_model_load_it_once_and_nobody_else_waits(loader: Loader) -> None:
    cache = ModelCache(100, loader)
    name_of(cache, "there")
    go = loader.go["slow"] = threading.Event()
    steps: list[tuple[int, int]] = []

    @contextmanager
    def bar() -> Iterator[Progress]:
        yield lambda done, total, _now="": steps.append((done, total))

    def ask() -> Translator:
        with cache.use(Path("slow"), bar) as model:
            return model

    with ThreadPoolExecutor(8) as people:
        waiting = [people.submit(ask) for _ in range(4)]
        assert loader.begun.wait(LONG)
        # meanwhile: one that is there, and one that is not
        assert [name_of(cache, name) for name in ("there", "quick")] == ["there", "quick"]
        assert not any(future.done() for future in waiting)
        while (3, 4) not in steps:
            pass
        go.set()
        assert len({id(future.result(LONG)) for future in waiting}) == 1
    assert loader.loaded == ["there", "slow", "quick"]


def test_who_no_longer_waits_goes_and_the_model_comes_for_the_others(loader: Loader) -> None:
    cache = ModelCache(10, loader)
    go = loader.go["slow"] = threading.Event()

    class Unwanted(BaseException): ...

    @contextmanager
    def leave() -> Iterator[Progress]:
        def report(*_: object) -> None:
            raise Unwanted

        yield report

    with ThreadPoolExecutor(1) as people:
        patient_one = people.submit(name_of, cache, "slow")
        assert loader.begun.wait(LONG)
        with pytest.raises(Unwanted), cache.use(Path("slow"), leave):
            pytest.fail("it is not there yet")
        go.set()
        assert patient_one.result(LONG) == "slow"
    # nobody holds it any more: it makes room
    name_of(cache, "other")
    assert loader.in_memory() == {"other"}


def test_a_damaged_one_says_so_to_all_who_wait_and_is_tried_again(loader: Loader) -> None:
    cache = ModelCache(10, loader)
    go = loader.go["damaged"] = threading.Event()

    def ask() -> str:
        with pytest.raises(CheckpointError) as refused, cache.use(Path("damaged"), patient):
            pytest.fail("it is damaged")
        return str(refused.value)

    with ThreadPoolExecutor(3) as people:
        waiting = [people.submit(ask) for _ in range(3)]
        assert loader.begun.wait(LONG)
        while cache._models[str(Path("damaged").resolve())].users < 3:
            pass
        go.set()
        assert {future.result(LONG) for future in waiting} == {"damaged is damaged."}
    ask()
    assert loader.loaded == ["damaged", "damaged"]
    assert cache.size == 0


def test_another_model_in_the_place_of_one_is_loaded(tmp_path, model, tokenizer) -> None:
    def use(cache: ModelCache, folder: Path) -> str:
        with cache.use(folder, patient) as translator:
            return translator.checksum

    cache = ModelCache(2**30, lambda folder, _: Translator.load(folder))
    folder, link = tmp_path / "model", tmp_path / "link"
    link.symlink_to(folder)
    checkpoint.save(folder, model, tokenizer)
    first = use(cache, folder)
    assert use(cache, link) == first
    checkpoint.save(folder, model, tokenizer, extra={"MODEL_CARD.md": "another"})
    second = use(cache, link)
    assert second == use(cache, folder) != first
    assert len(cache._models) == 2
    # over its own files, as cp -r has it: the folder itself stays as it was
    checkpoint.save(tmp_path / "other", model, tokenizer, extra={"MODEL_CARD.md": "third"})
    before = folder.stat().st_mtime_ns
    shutil.copytree(tmp_path / "other", folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
    os.utime(folder, ns=(before, before))
    assert use(cache, folder) not in (first, second)
    translator = Translator.load(folder)
    parameters = 4 * translator.model.number_of_parameters()
    buffers = sum(buffer.nbytes for buffer in translator.model.buffers())
    assert size_of_model(translator) == 2 * parameters + buffers
