"""The runs of the Training page, and the attention that each saved for a few sentences."""

import os
import re
import time
from pathlib import Path
from typing import TypeAlias

import streamlit as st

from training.run import journal
from training.run.journal import LOG, MAX_STEP, Log, RunLogError, read_foreign
from transformer import KINDS, AttentionTrace, CheckpointError
from transformer.files.installed import ASSETS, BUNDLED, BUNDLED_BY_NAME, FORMING
from viz.app.cache.memory import memo, state_of_file
from viz.app.chrome.problems import without_paths
from viz.app.models import menu
from viz.app.view import cached
from viz.draw.labels import quoted

RUNS_VARIABLE = "HEADLIGHT_RUNS"
"""Environment variable that names the folder of runs; `runs` beside the app unless set."""
MODEL_NAME, FORMING_NAME = "this model's", "the bundled recipe on one GPU"
MAX_RUNS = 200  # largest number of the server's runs in the menus, newest first
LIVE_SECONDS = 600.0
"""Seconds after the last line of its log for which a run counts as live: a validation writes no
line for minutes, and a run that counted as ended is not followed any more."""


def known_runs() -> dict[str, Path]:
    """List folders with a log: of the model in the bar, the bundled, the server's, newest first."""
    runs = {FORMING_NAME: FORMING, **BUNDLED_BY_NAME, **_own_runs()}
    offered = menu.offered_models()
    chosen = st.session_state.get(menu.MODEL, offered.default)
    model = offered.folders.get(chosen, BUNDLED)
    # around its folder, else with its log
    around = () if model == BUNDLED else (model.parent, model.parent.parent, model)
    run = next((folder for folder in around if os.path.isfile(folder / LOG)), None)  # noqa: PTH113
    if run is None:
        return runs
    same = (name for name, folder in runs.items() if folder.resolve() == run.resolve())
    return {next(same, MODEL_NAME): run} | runs


def is_inside(path: Path, folder: Path) -> bool:
    """Return whether a file lies in a folder after all links are resolved."""
    # os.path returns False for an inaccessible path, such as too long a name
    is_file = os.path.isfile(path)  # noqa: PTH113
    return is_file and path.resolve().is_relative_to(folder.resolve())


def is_live(folder: Path) -> bool:
    """Return whether the run in a folder seems to continue: a recent log without its end."""
    if folder.is_relative_to(ASSETS):  # a fresh clone has fresh files
        return False
    log = folder / LOG
    try:
        if time.time() - log.stat().st_mtime >= LIVE_SECONDS:
            return False
        records = load_log(log).records
    except (OSError, RunLogError):
        return False
    # a copied folder has a recent log, too; the last record of an ended run is the validation of
    # its last planned step
    planned = journal.plan(records).get("steps")
    return not records or "validation_loss" not in records[-1] or records[-1]["step"] != planned


def _runs_folder() -> Path:
    return Path(os.path.expanduser(os.environ.get(RUNS_VARIABLE, "runs")))  # noqa: PTH111


def is_folder(path: Path) -> bool:
    """Return whether a path names a folder; False where it is inaccessible."""
    return os.path.isdir(path)  # noqa: PTH112  # pathlib's raises where the name is too long


def _own_runs() -> dict[str, Path]:
    folder = _runs_folder()
    if not is_folder(folder):
        return {}
    contained = [log for log in folder.glob(f"*/{LOG}") if is_inside(log, folder)]
    newest = sorted(contained, key=_changed, reverse=True)[:MAX_RUNS]
    # with escapes for bytes of a name that are not UTF-8
    names = [os.fsencode(log.parent.name).decode("utf-8", "backslashreplace") for log in newest]
    return {f"runs/{name}": log.parent for name, log in zip(names, newest, strict=True)}


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # deleted in the meantime
        return 0.0


LIMITS = {"max_bytes": 16 * 2**20, "max_lines": 50_000}
"""Largest log that the page reads: 2.5 million steps with every fiftieth logged."""


def load_log(path: Path) -> Log:
    """Read the records of one log, and the problems of its other lines."""
    return cached(read_foreign, path, **LIMITS)


def log_problem(name: str, log: Log) -> str | None:
    """Describe the invalid lines of a run's log; None without any."""
    if not log.wrong:
        return None
    (number, reason), *others = log.wrong.items()
    more = f", and neither {'is' if len(others) == 1 else 'are'} {len(others):,} more"
    rest = "you see the other lines" if log.records else "nothing can be drawn"
    text = f"line {number:,} of run.jsonl is not a run record ({reason})"
    return f"{name}: {text}{more if others else ''}; {rest}."


RUNS_HELP = (
    "This model's run, the bundled runs, and those in the folder runs beside the app or in "
    f"HEADLIGHT_RUNS (the newest {MAX_RUNS})."
)

_UNKNOWN = "training.unknown_runs"


def offered_runs(name: str) -> dict[str, Path]:
    """Return the runs of the menu `name` in the URL, and keep what a link names beside them."""
    runs = known_runs()
    if unknown := [run for run in st.query_params.get_all(name) if run not in runs]:
        # the menu removes them from the URL; the message stays until another run is chosen
        st.session_state[_UNKNOWN] = name, unknown
    return runs


def forget_unknown() -> None:
    """Remove the message on unknown runs, when another run is chosen."""
    st.session_state.pop(_UNKNOWN, None)


def report_missing(name: str) -> None:
    """Name the folder and the runs of a link that the server does not have."""
    if RUNS_VARIABLE in os.environ and not is_folder(_runs_folder()):
        st.text(f"{RUNS_VARIABLE} names no folder on this server: you see only the bundled runs.")
    menu, unknown = st.session_state.get(_UNKNOWN, (name, []))
    for run in unknown if menu == name else []:
        st.text(f"This server has no run {quoted(run)}: choose one from the menu.")


Probes: TypeAlias = dict[int, Path]  # files of one sentence by step, in order
MAX_FILES = 3_000  # largest number of files of a run: a thousand steps of three sentences
MAX_PROBE_BYTES, MAX_TOTAL_BYTES = 4 * 2**20, 256 * 2**20
"""Largest unpacked size of a file, where a base model's weights on forty pieces have 2.8 MB; and of
all steps of one sentence."""
MAX_HEADS = 64  # largest number of layers, and of heads of a layer
MAX_SUM = 1.01  # largest sum of the weights of a query, with the rounding of bfloat16

_NAME = re.compile(r"step-(\d{1,13})-sentence-(\d{1,2})\.npz", re.ASCII)


def find(run: Path) -> list[Probes]:
    """List the files of each sentence in a run's folder; empty where it saved nothing."""
    probes: dict[int, Probes] = {}
    names = sorted(run.glob("probes/step-*-sentence-*.npz"))
    if len(names) > MAX_FILES:
        raise CheckpointError(
            f"The folder probes of {run.name} holds {len(names):,} files, and up to "
            f"{MAX_FILES:,} are read: keep fewer of its steps."
        )
    for path in names:
        name = _NAME.fullmatch(path.name)
        if name and 1 <= int(name[1]) <= MAX_STEP and is_inside(path, run):
            probes.setdefault(int(name[2]), {})[int(name[1])] = path
    return [dict(sorted(probes[sentence].items())) for sentence in sorted(probes)]


def load(path: Path) -> AttentionTrace:
    """Read one file, from the cache until it changes."""
    return memo(("probe", path, state_of_file(path)), lambda: _read(path))


def load_all(probes: Probes) -> tuple[dict[int, AttentionTrace], dict[int, str], list[str]]:
    """Read one sentence by step: traces, what the model wrote, and problems with files left out."""
    traces: dict[int, AttentionTrace] = {}
    texts: dict[int, str] = {}
    problems: list[str] = []
    size = 0
    for step, path in probes.items():
        try:
            trace = load(path)
            if _subject(trace) != _subject(next(iter(traces.values()), trace)):
                raise CheckpointError(
                    f"{path.name} is of another sentence or another model than the steps before "
                    f"it: remove it from the folder probes."
                )
            size += sum(trace.weights(kind).nbytes for kind in KINDS)
            traces[step] = trace
            beside = path.with_name(path.name.replace("-sentence-", "-written-"))
            written = load(beside) if is_inside(beside, beside.parents[1]) else None
            if written and written.source != trace.source:
                raise CheckpointError(
                    f"{beside.name} is of another sentence: remove it from the folder probes."
                )
            texts |= {step: written.target} if written else {}
        except CheckpointError as error:
            problems.append(without_paths(error))
        if size > MAX_TOTAL_BYTES:
            raise CheckpointError(
                f"The attention saved of this sentence has more than {MAX_TOTAL_BYTES:,} bytes up "
                f"to step {step:,}: keep fewer of its steps."
            )
    return traces, texts, problems


def _read(path: Path) -> AttentionTrace:
    trace = AttentionTrace.load(path, max_bytes=MAX_PROBE_BYTES)
    own, cross = trace.decoder_self.shape[:2], trace.cross.shape[:2]
    if set(trace.kinds) != set(KINDS) or own != cross or trace.head_counts:
        raise CheckpointError(
            f"{path.name} is not a probe of a run: those of a model that is trained here have as "
            f"many layers and heads of both kinds of attention of the decoder."
        )
    for kind in KINDS:
        weights = trace.weights(kind)
        if max(weights.shape[:2]) > MAX_HEADS:
            raise CheckpointError(
                f"{path.name} has {weights.shape[0]:,} layers of {weights.shape[1]:,} heads, and "
                f"up to {MAX_HEADS} are drawn."
            )
        if weights.min() < 0 or weights.sum(-1).max() > MAX_SUM:
            raise CheckpointError(
                f"{path.name} holds no attention of a model: weights lie from 0 to 1, and those of "
                f"a query sum to 1."
            )
    return trace


def _subject(trace: AttentionTrace) -> object:
    return trace.source, trace.source_pieces, trace.target_pieces, trace.cross.shape
