"""Hostile run folders: through the readers of the Training page, and through the page itself."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.campaign.made_run_folders import makers
from benchmarks.campaign.outcome import Outcome, Verdict
from training.run.journal import LOG
from transformer.errors import HeadlightError
from viz.pages.training.heads_forming import TRACED_SENTENCE
from viz.pages.training.runs import RUNS_VARIABLE, find, is_live, load_all, load_log, log_problem

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

ENTRANCE = "run folders"
MAX_SECONDS, MAX_MEGABYTES = 5.0, 400.0
"""Of one folder; the first also when the page is drawn from it."""

PAGE_EVERY = 5
"""One folder in so many is opened on the page in both views; the others are only read."""

ALWAYS = ("a log that", "probes that")
"""Beginnings of the names of those that always are."""


def run(count: int, seed: int) -> Iterator[Outcome]:
    """Try that many folders, each another; at least 800 differ."""
    with tempfile.TemporaryDirectory() as root, _environment(Path(root)):
        for number, (name, make) in enumerate(makers(count, seed)):
            folder = Path(root) / "one"
            folder.mkdir()
            make(folder)
            yield _outcome(
                name, folder, on_page=number % PAGE_EVERY == 0 or name.startswith(ALWAYS)
            )
            shutil.rmtree(folder)


def _outcome(name: str, folder: Path, *, on_page: bool) -> Outcome:
    """Read a folder as the page reads it, or let the page do it."""
    logged = _Tracebacks()
    loggers = logging.getLogger(), logging.getLogger("streamlit")
    for logger in loggers:
        logger.addHandler(logged)
    began, before = time.monotonic(), _peak(reset=True)
    verdict, why = _on_page() if on_page else _read(folder)
    seconds, megabytes = time.monotonic() - began, _peak() - before
    for logger in loggers:
        logger.removeHandler(logged)
    if logged.seen:
        verdict, why = "bad", f"in the log: {logged.seen[0]}"
    elif seconds > MAX_SECONDS or megabytes > MAX_MEGABYTES:
        verdict, why = "bad", f"{seconds:.1f} s and {megabytes:,.0f} MB"
    return Outcome(ENTRANCE, name, verdict, why, seconds, megabytes)


def _read(folder: Path) -> tuple[Verdict, str]:
    try:
        is_live(folder)
        log = load_log(folder / LOG)
        problem = log_problem("one", log)
        wrong: list[str] = []
        for sentence in find(folder):
            wrong += load_all(sentence)[1]
    except HeadlightError as error:
        return "refused", str(error)
    except Exception as error:  # noqa: BLE001  # that is what is looked for
        return "bad", f"{type(error).__name__}: {error}"
    said = [problem, *wrong] if problem else wrong
    return ("refused", said[0]) if said else ("accepted", "")


def _on_page() -> tuple[Verdict, str]:
    """Both views of the page, with this run chosen."""
    said: list[str] = []
    for view, menu in (("Curves", "runs"), ("Heads forming", "forming_run")):
        app = _page()
        app.query_params["training_view"] = view
        app.query_params[menu] = "runs/one"
        try:
            app.run()
        except Exception as error:  # noqa: BLE001  # such as a page that takes too long
            return "bad", f"{view}: {type(error).__name__}: {error}"
        if app.exception:
            return "bad", f"{view}: {app.exception[0].message}"
        texts = [text.value for text in app.text]
        said += [text for text in texts if text.endswith(".") and text != TRACED_SENTENCE]
    return ("refused", said[0]) if said else ("accepted", "")


def _page() -> AppTest:
    from streamlit.testing.v1 import AppTest

    def training_page() -> None:
        from viz.pages import training

        training.show()

    return AppTest.from_function(training_page, default_timeout=30)


class _Tracebacks(logging.Handler):
    """Keeps what is logged with a traceback."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self.seen.append(record.getMessage()[:200])


@contextmanager
def _environment(root: Path) -> Iterator[None]:
    before = os.environ.get(RUNS_VARIABLE)
    os.environ[RUNS_VARIABLE] = str(root)
    try:
        yield
    finally:
        if before is None:
            del os.environ[RUNS_VARIABLE]
        else:
            os.environ[RUNS_VARIABLE] = before


def _peak(*, reset: bool = False) -> float:
    """Largest resident memory since the last reset, in MB; 0 where the system does not say."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0.0
    return int(status.split("VmHWM:")[1].split()[0]) / 1024
