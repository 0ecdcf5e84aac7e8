"""The menu of models, and the one that is chosen there, in memory while a run needs it."""

import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import streamlit as st
import torch

from transformer import CheckpointError, Translator, errors
from transformer.analysis import teacher_forcing
from transformer.analysis.alignment_settings import read_alignment
from transformer.checkpoints import checkpoint, marian
from transformer.checkpoints.marian.config import read_languages
from transformer.checkpoints.marian.tokenizer import SOURCE_SPM, VOCABULARY
from transformer.checkpoints.marian.weights import MAX_BYTES, PICKLED, weights_file
from transformer.checkpoints.other_files import advice
from transformer.decoding import fast_step
from transformer.files import installed, reading
from transformer.text.languages import OURS, Languages
from viz.app.cache import cached_results, memory
from viz.app.links import address
from viz.app.models.model_cache import ModelCache, state_of_folder
from viz.draw.labels import quoted

MODEL = "model"  # name in the URL

MEMORY_VARIABLE = "HEADLIGHT_MODELS_MIB"
"""Environment variable that says how much memory models may take, in MiB."""

DEFAULT_MIB = 2_048  # three models of 74 M parameters: such a one takes about 570 MiB

_CHUNK = 4 * reading.MIB

_run: ContextVar[ExitStack | None] = ContextVar("models of this run", default=None)


@contextmanager
def models_for_run() -> Iterator[None]:
    """Keep the models that are loaded in the block in memory until it ends; a context manager."""
    with ExitStack() as stack:
        token = _run.set(stack)
        try:
            yield
        finally:
            _run.reset(token)


def load(folder: Path) -> Translator:
    """Load the model of a folder, shared by all users; a bar shows the progress."""
    # two threads on one sentence wait for each other; the cores are better used by two people
    torch.set_num_threads(1)
    with ExitStack() as alone:
        bar = partial(cached_results.progress_bar, "Loading the model")
        return (_run.get() or alone).enter_context(_cache().use(folder, bar))


def in_use(folder: Path, report: teacher_forcing.Progress) -> AbstractContextManager[Translator]:
    """Return a block in which a thread has a model; `report` gets the bytes read, and all."""
    return _cache().use(folder, lambda: nullcontext(report))


def problem(offered: "OfferedModels") -> str:
    """Return a sentence on a requested model that is absent, or ""; call this before `choose`."""
    state = st.session_state
    names = address.raw_value(MODEL), state.get(MODEL)
    missing = next((name for name in names if name and name not in offered.folders), None)
    if MODEL in state and state[MODEL] not in offered.folders:
        state[MODEL] = offered.default
    if not missing:
        return ""
    name = quoted(errors.one_line(missing))
    return f"There is no model {name} on this server: shown is {quoted(offered.default)}."


def choose(offered: "OfferedModels") -> str:
    """Draw the menu, hidden if there are only the bundled models; return the chosen name."""
    bundled_alone = offered.folders.keys() <= installed.BUNDLED_BY_NAME.keys()
    with st.container(key="hidden-models") if bundled_alone else nullcontext():
        return st.selectbox(
            "Model", list(offered.folders), key=MODEL, bind="query-params", width=290
        )


def reads_same_language(first: Translator, folder: Path) -> bool:
    """Return whether the model of a folder may read the same language, as far as can be told."""
    ours, theirs = first.languages.source, _languages_of(folder).source
    return not (ours and theirs) or ours == theirs


def reverse_of(languages: Languages, offered: "OfferedModels") -> str:
    """Return the name of the first model that translates the other way round; "" if none does."""
    if not languages.source or not languages.target or languages.codes:
        return ""
    wanted = Languages(languages.target, languages.source)
    names = (name for name, folder in offered.folders.items() if _languages_of(folder) == wanted)
    return next(names, "")


def _languages_of(folder: Path) -> Languages:
    """Return the languages of a model that need not be loaded; "" for those that are unknown."""
    return _read_languages(str(folder), state_of_folder(folder))


@lru_cache(maxsize=10_000)
def _read_languages(folder: str, _state: Hashable) -> Languages:
    path = Path(folder)
    is_marian = marian.is_marian(path)
    try:
        return read_languages(path, (), sha256()) if is_marian else checkpoint.read_languages(path)
    except CheckpointError:
        # a folder of ours that names no languages is English and German; what is wrong with it is
        # said when it is chosen
        return Languages("", "") if is_marian else OURS


@memory.server_wide
def _cache() -> ModelCache:
    return ModelCache(_limit()[0] * reading.MIB, _read)


def warm_up() -> None:
    """Load the default model, ready for the first search."""
    offered = offered_models()
    folder = offered.folders[offered.default]
    # the page says what is wrong
    with suppress(CheckpointError), in_use(folder, lambda *_: None) as translator:
        fast_step.search_weights(translator.model)


def models_bytes() -> int:
    """Return the size of the models in memory, in bytes."""
    return _cache().size


def limit_problem() -> str:
    """Return a sentence on an invalid bound, or ""."""
    return _limit()[1]


def _limit() -> tuple[int, str]:
    """Return the memory that models may take, in MiB, and a sentence on an invalid setting."""
    setting = os.environ.get(MEMORY_VARIABLE, "").strip() or str(DEFAULT_MIB)
    if setting.isdecimal() and len(setting) < 12 and int(setting):
        return int(setting), ""
    problem = f"{MEMORY_VARIABLE} is {quoted(setting)}, which is not a whole number of MiB"
    return DEFAULT_MIB, errors.one_line(f"{problem}: models take up to {DEFAULT_MIB:,}.")


def _read(folder: Path, progress: teacher_forcing.Progress) -> Translator:
    """Read a folder; on a cold disk, the file of its weights takes most of the time."""
    torch.set_num_threads(1)  # of this thread
    with suppress(OSError), reading.open_bounded(weights_file(folder), MAX_BYTES) as (file, size):
        # the system keeps what was read: the second time takes a few hundredths of a second
        for done in range(0, size, _CHUNK):
            progress(done, size + size // 4)  # the rest is for what follows
            file.read(_CHUNK)
    translator = Translator.load(folder)
    read_alignment(translator)  # damaged settings are refused here, not on a page
    return translator


CHECKPOINT_VARIABLE = "HEADLIGHT_CHECKPOINT"
"""Environment variable that names other checkpoint folders than the bundled one, as PATH does."""
MODELS_VARIABLE = "HEADLIGHT_MODELS"
"""Environment variable that names a folder of model folders, ours and those of MarianMT."""

SEPARATOR = os.pathsep
_OF_MODELS = (checkpoint.WEIGHTS, VOCABULARY, checkpoint.MANIFEST, SOURCE_SPM, PICKLED)
"""Files that only a model has; a `config.json` has to say that it is one of the hub's."""


class OfferedModels(NamedTuple):
    """Models that can be chosen now."""

    folders: Mapping[str, Path]  # by name; the first one translates unless another is chosen
    problem: str = ""  # a sentence on a folder of models that cannot be read, or ""

    @property
    def default(self) -> str:
        """The name of the first one."""
        return next(iter(self.folders))


def offered_models() -> OfferedModels:
    """Return the folders of both variables and the bundled ones, as they are at this moment."""
    named = [
        Path(path.strip()).expanduser()
        for path in os.environ.get(CHECKPOINT_VARIABLE, "").split(SEPARATOR)
        if path.strip()
    ]
    folders, problem = _models_in(os.environ.get(MODELS_VARIABLE, "").strip())
    return OfferedModels(_by_name([*named, *installed.BUNDLED_BY_NAME.values(), *folders]), problem)


def _models_in(folder: str) -> tuple[list[Path], str]:
    """Return the model folders in a folder, and a sentence on a problem with it."""
    if not folder:
        return [], ""
    path = Path(folder).expanduser()
    try:
        with os.scandir(path) as entries:
            paths = [entry.path for entry in entries if not entry.name.startswith(".")]
    except (OSError, ValueError) as error:
        why = error if isinstance(error, OSError) else OSError(f"{error}")
        return [], errors.one_line(f"{MODELS_VARIABLE}: {errors.unreadable(why, path)}")
    if _is_model(str(path)):
        return [], errors.one_line(f"{MODELS_VARIABLE}: {path} is a model: name the folder above.")
    models = [Path(path) for path in sorted(filter(_is_model, paths), key=str.casefold)]
    other = "" if models else advice(path, "")
    return models, errors.one_line(f"{MODELS_VARIABLE}: {other}") if other else ""


def _is_model(folder: str) -> bool:
    """Return whether a folder is meant to be a model, even a damaged one."""
    # os.path answers where pathlib raises: links in a circle, what may not be read; and thousands
    # of entries are looked at in each run
    if any(os.path.exists(f"{folder}/{name}") for name in _OF_MODELS):  # noqa: PTH110
        return True
    return os.path.exists(f"{folder}/{checkpoint.CONFIG}") and marian.is_marian(Path(folder))  # noqa: PTH110


def _by_name(folders: Sequence[Path]) -> dict[str, Path]:
    """Name folders by as many of their last parts as make them unique."""
    once = {os.path.abspath(folder): folder for folder in folders}  # noqa: PTH100
    bundled = {folder: (name,) for name, folder in installed.BUNDLED_BY_NAME.items()}
    parts = {
        folder: bundled.get(folder) or tuple(map(errors.one_line, Path(path).parts[1:]))
        for path, folder in once.items()
    }
    named = {}
    for folder, own in parts.items():
        others = [theirs for other, theirs in parts.items() if other != folder]
        count = 1
        while count < len(own) and any(own[-count:] == theirs[-count:] for theirs in others):
            count += 1
        named["/".join(own[-count:])] = folder
    return named
