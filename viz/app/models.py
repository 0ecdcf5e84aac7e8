"""The menu of models, and the one that is chosen there, in memory while a run needs it."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import streamlit as st
import torch

from transformer import CheckpointError, Translator
from transformer.analysis.alignment_settings import read_alignment
from transformer.analysis.teacher_forcing import Progress
from transformer.checkpoints import marian
from transformer.checkpoints.marian.languages import read_languages
from transformer.checkpoints.marian.stored import MOST_BYTES, weights_path
from transformer.errors import one_line
from transformer.files.reading import MIB, opened
from transformer.text.languages import OURS
from viz.app import address
from viz.app.model_cache import ModelCache, state_of_folder
from viz.app.model_folders import OfferedModels
from viz.app.progress import progress_bar
from viz.draw.labels import quoted

MODEL = "model"
"""Name in the URL."""

MEMORY_VARIABLE = "HEADLIGHT_MODELS_MIB"
"""Environment variable that says how much memory models may take, in MiB."""

DEFAULT_MIB = 2_048
"""Three models of 74 M parameters: such a one takes about 570 MiB."""

_CHUNK = 4 * MIB
LONGEST_NUMBER = 12  # digits

_run: ContextVar[ExitStack | None] = ContextVar("models of this run", default=None)


@contextmanager
def kept_for_run() -> Iterator[None]:
    """The models that are loaded in the block stay in memory until it ends; a context manager."""
    with ExitStack() as stack:
        token = _run.set(stack)
        try:
            yield
        finally:
            _run.reset(token)


def load(folder: Path) -> Translator:
    """The model of a folder, for everybody the same; a bar says how far it is loaded.

    Raises:
        CheckpointError: naming the file and what is wrong with it.
    """
    # two threads on one sentence wait for each other; the cores are better used by two people
    torch.set_num_threads(1)
    with ExitStack() as alone:
        return (_run.get() or alone).enter_context(_cache().use(folder, _bar))


def problem(offered: OfferedModels) -> str:
    """A sentence on a model that is asked for and not there, or ""; before the menu is drawn."""
    state = st.session_state
    missing = next(
        (one for one in (address.raw_value(MODEL), state.get(MODEL)) if one not in offered.folders),
        None,
    )
    if MODEL in state and state[MODEL] not in offered.folders:
        state[MODEL] = offered.default
    if not missing:
        return ""
    return (
        f"There is no model {quoted(one_line(missing))} on this server: shown is "
        f"{quoted(offered.default)}."
    )


def menu(offered: OfferedModels) -> str:
    """Draw the menu, where there is a choice; the name of the model that is chosen."""
    names = list(offered.folders)
    if len(names) == 1:
        return offered.default
    return st.selectbox("Model", names, key=MODEL, bind="query-params", width=290)


def reads_same_language(first: Translator, folder: Path) -> bool:
    """Whether the model of a folder may read what another one reads, as far as can be told."""
    ours, theirs = first.languages.source, _source_language(str(folder), state_of_folder(folder))
    return not (ours and theirs) or ours == theirs


@lru_cache(maxsize=10_000)
def _source_language(folder: str, _state: Hashable) -> str:
    """The language that the model of a folder reads, without loading it; "" if it is unknown."""
    path = Path(folder)
    try:
        known = read_languages(path, (), sha256()) if marian.is_marian(path) else OURS
    except CheckpointError:
        return ""  # which says so when it is chosen
    return known.source


@st.cache_resource(show_spinner=False)
def _cache() -> ModelCache:
    """The models of this server."""
    return ModelCache(_limit()[0] * MIB, _read)


def limit_problem() -> str:
    """A sentence on a bound that is none, or ""."""
    return _limit()[1]


def _limit() -> tuple[int, str]:
    """How much memory models may take, in MiB, and what is wrong with what is said of it."""
    said = os.environ.get(MEMORY_VARIABLE, "").strip()
    if not said:
        return DEFAULT_MIB, ""
    if said.isdecimal() and len(said) < LONGEST_NUMBER and int(said):
        return int(said), ""
    return DEFAULT_MIB, one_line(
        f"{MEMORY_VARIABLE} is {quoted(said)}, which is no whole number of MiB: models take up to "
        f"{DEFAULT_MIB:,}."
    )


def _bar() -> AbstractContextManager[Progress]:
    return progress_bar("Loading the model")


def _read(folder: Path, progress: Progress) -> Translator:
    """Read a folder; most of the time passes with the file of its weights, where it is cold."""
    torch.set_num_threads(1)  # of this thread
    with suppress(OSError), opened(weights_path(folder), MOST_BYTES) as (file, size):
        # the system keeps what was read, so that the second time takes a few hundredths of a second
        for done in range(0, size, _CHUNK):
            progress(done, size + size // 4)  # the rest is for what follows
            file.read(_CHUNK)
    translator = Translator.load(folder)
    read_alignment(translator)  # damaged settings are refused here, not on a page
    return translator
