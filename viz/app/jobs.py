"""Long work in the background, with its progress bar.

Jobs wait in three lanes: many lines keep no sentence waiting, and a long sentence no short one. A
job continues on other pages, and ends with the session that began it.
"""

import logging
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import streamlit as st

from transformer import AttentionTrace, Translator, errors
from viz.app.cache import cached_results, memory, search_queue
from viz.app.cache.lane import FullError, Lane
from viz.app.chrome import explanations, fields, problems
from viz.app.log import log_refusal
from viz.app.models import menu
from viz.app.streamlit_internals import end_if_unwanted, is_connected, session_name
from viz.draw import formatting

T = TypeVar("T")
State = Literal["waiting", "running", "done", "failed", "cancelled", "out of time"]
Work = Callable[[cached_results.Report], T]
"""Work that reports many times a second, in its own thread, where nothing can be drawn: a report
raises `JobEnded` once the job has ended. It takes a model by `viz.app.models.menu.in_use`: a job
that waits holds no memory."""

LONGEST = 30 * 60.0  # largest duration of a job, in seconds
SURE_AFTER = 10.0  # seconds of a job before its remaining time is estimated

_TICK = 0.02  # seconds between two looks at a job that a run waits for

AWAY = 5.0  # seconds in which a browser that lost its connection may come back to its job

LaneName = Literal["lines", "long", "short"]

MAX_WAITING: dict[LaneName, int] = {"lines": 8, "long": 16, "short": 256}
"""Largest numbers of waiting jobs; one client, in all of its tabs, has half of them at most."""

RUNNING: dict[LaneName, int] = {"lines": 1, "long": 1, "short": 2}
"""Jobs that run at one time: while a class asks for short ones, they take both cores."""

SHORT = 64  # subwords of the longer side of a sentence whose jobs are short

PATIENCE = 1.0  # seconds that a run waits for a job on a sentence before it draws the bar

OUT_OF_TIME = f"This took longer than {LONGEST / 60:.0f} minutes and was stopped: ask for less."
OUT_OF_MEMORY = "The server has too little memory for this: ask for less."
BROKEN = "This failed, and the server's log says why: try it again."
FULL = "{} others wait for this server already: try again in a few minutes."
FULL_OF_YOURS = "{} others from your network wait already: try again in a few minutes."

_LOG = logging.getLogger(__name__)


class JobEnded(BaseException):
    """End of an unwanted job; no `Exception`, which the work might catch."""


@dataclass(eq=False)
class Job(Generic[T]):
    """Work with its state, its progress and, in the end, its result or its error."""

    name: str  # name in its session
    title: str  # what it does, on the screen
    session: str  # the session that owns it
    client: str  # where it comes from; see `viz.app.cache.search_queue`
    lane: Lane["Job"]  # where it waits
    # what computes the result; None once it is over, so that nothing is held by it
    work: Work[T] | None
    key: Hashable = None  # of its result in the memo, if it has one
    state: State = "waiting"  # the last one is final
    # parts that are done, of how many, and what is being done
    progress: tuple[int, int, str] = (0, 1, "")
    part: Any = None  # the result so far, if the work reports one
    result: T | None = None  # the result where it is done
    error: str = ""  # a sentence where it failed or was out of time, or ""
    clock: Callable[[], float] = time.monotonic
    began: float | None = None  # time by the clock; likewise of its end
    ended: float | None = None
    _away_since: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_active(self) -> bool:
        """True while it waits or runs."""
        return self.state in ("waiting", "running")

    @property
    def seconds(self) -> float:
        """Seconds since its work began, until it ended."""
        now = self.clock() if self.ended is None else self.ended
        return 0.0 if self.began is None else now - self.began

    @property
    def ahead(self) -> int:
        """The number of jobs before it in the lane; 0 once it runs or has ended."""
        self.lane.sweep()
        place = self.lane.place(self)
        return place - 1 + self.lane.running() if place else 0

    def wait_in_lane(self) -> None:
        """Run as soon as the lane has room; fail if too many jobs wait."""
        try:
            self.lane.add(self)
        except FullError as full:
            sentence = FULL_OF_YOURS if full.is_of_client else FULL
            self.end("failed", error=sentence.format(full.count))
            log_refusal("too many jobs")

    def cancel(self) -> None:
        """End it, where it has not ended; its thread follows with its next report."""
        self.end("cancelled")

    def is_unwanted(self) -> bool:
        """Return whether the job has ended: done, cancelled, out of time, or without session."""
        if self.is_active:
            now, before = self.clock(), self._away_since  # once: worker and bar both ask
            away = None if is_connected(self.session) else now if before is None else before
            self._away_since = away
            if away is not None and now - away >= AWAY:
                self.cancel()
            elif self.seconds >= LONGEST:
                self.end("out of time", error=OUT_OF_TIME)
        return not self.is_active

    def _report(self, done: int, total: int, now: str = "", part: object = None, /) -> None:
        if self.is_unwanted():
            raise JobEnded
        self.progress, self.part = (done, total, now), part or self.part

    def wait(self, seconds: float) -> None:
        """Wait in a run of a page until it has ended, but at most `seconds`."""
        end = time.monotonic() + seconds
        with search_queue.without_turn():
            while self.is_active and time.monotonic() < end:
                end_if_unwanted()
                time.sleep(_TICK)

    def run(self) -> None:
        """Do the work: called once, in a thread of the lane."""
        with self._lock:
            work = self.work
            if work is None:  # it was cancelled
                return
            self.state, self.began = "running", self.clock()
        try:
            self.end("done", result=work(self._report))
        except JobEnded:
            pass
        except errors.HeadlightError as error:
            self.end("failed", error=problems.without_paths(error))
        except MemoryError:
            self.end("failed", error=OUT_OF_MEMORY)
        except Exception:  # noqa: BLE001
            _LOG.exception("job failed: %s", self.title)
            self.end("failed", error=BROKEN)

    def end(self, state: State, *, result: T | None = None, error: str = "") -> None:
        """Set the final state, if there is none."""
        with self._lock:
            if self.is_active:
                self.result, self.error, self.ended = result, error, self.clock()
                self.state, self.work = state, None


def _run(batch: Sequence[Job]) -> None:
    for job in batch:
        job.run()
    if not batch[0].lane.running():
        memory.call_heap("malloc_trim", 0)  # what is freed goes back to the system


def lane_of_jobs(name: LaneName) -> Lane[Job]:
    """Make a lane for jobs."""
    return Lane("job", _run, MAX_WAITING[name], at_once=RUNNING[name])


@memory.server_wide
def _lanes() -> dict[LaneName, Lane[Job]]:
    return {name: lane_of_jobs(name) for name in MAX_WAITING}


def start(
    name: str, title: str, work: Work[T], lane: LaneName = "lines", key: Hashable = None
) -> Job[T]:
    """Start work for this session, titled on the screen, in place of its job of this name."""
    if (earlier := current(name)) is not None:
        earlier.cancel()
    client = search_queue.current_client()
    job = Job(name, title, session_name(), client, _lanes()[lane], work, key)
    # first: it may end this run, and with it the only handle
    st.session_state[f"job {name}"] = job
    job.wait_in_lane()
    return job


def current(name: str) -> Job[Any] | None:
    """Return the last job of a name in this session, whatever its state."""
    job: Job[Any] | None = st.session_state.get(f"job {name}")
    return job


def show(job: Job, drawn: object = None) -> None:
    """Draw a job; once it ends, or has another part than the `drawn` one, draw the page anew.

    Of a job that has ended, draw its error, if it has one.
    """
    if job.is_active:
        st.fragment(_bar, run_every="1s")(job, drawn)
    elif job.error:
        st.text(job.error)


def _bar(job: Job, drawn: object) -> None:
    if job.is_unwanted() or job.part is not drawn:
        st.rerun()  # only a run of the whole page ends the fragment's repetition
    done, total, now = job.progress
    share, spent = min(max(done / max(total, 1), 0.0), 1.0), job.seconds
    if job.ahead:
        times = f"waits for {formatting.counted(job.ahead, 'other')}"
    else:
        times = _clock(spent)
        if share and spent > SURE_AFTER:
            times += f", about {_clock(spent / share - spent)} left"
    text = " · ".join(filter(None, [job.title, now, times]))
    st.progress(share, explanations.as_markdown(text))
    fields.button("Cancel", f"cancel {job.name}", job.cancel)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


STEPS = {"translate": "translating", "measure": "measuring", "costs": "scoring"}
"""Parts of the work with a model, on the screen."""

ModelWork = Callable[[Translator, cached_results.Report], object]


class Offer(NamedTuple):
    """Work over many lines, which the user asks for."""

    job: str  # its name in the session
    title: str  # on the screen
    label: str = ""  # of the button; without one, the run itself does the work
    start_now: bool = False  # the user has pressed another button for it
    known: object = None  # the result, if it is stored


def get_or_offer(offer: Offer, key: Hashable, folder: Path, work: ModelWork) -> Any:
    """Return the result under a key of the memo, or draw the button that starts its job."""
    job = current(offer.job)
    if job is not None and job.result is not None:
        memory.memo(job.key, lambda: job.result)
    if (result := memory.recall(key)) is not None:
        return result
    if job is not None:
        show(job)
    is_active = job is not None and job.is_active
    if offer.start_now or (not is_active and st.button(offer.label, key=f"{offer.job}-start")):
        start_with_model(offer.job, key, offer.title, folder, work)
        st.rerun()
    return None


def start_with_model(
    name: str, key: Hashable, title: str, folder: Path, work: ModelWork, lane: LaneName = "lines"
) -> Job[object]:
    """Start work with the model of a folder; see `get_or_offer`."""

    def run(report: cached_results.Report) -> object:
        def report_part(done: int, total: int, now: str = "", part: object = None, /) -> None:
            report(done, total, STEPS.get(now, now), part)

        with menu.in_use(folder, lambda *_: report(0, 1, "loading the model")) as model:
            return work(model, report_part)

    return start(name, title, run, lane, key)


class UnfinishedError(Exception):
    """A result that a job computes, which the app draws in place of the rest of the page."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def show(self, drawn: object = None) -> None:
        """Draw the job, and where it has failed a button that forgets it; see `show`."""
        if self.job.result is not None:  # it has just ended
            st.rerun()
        show(self.job, drawn)
        if not self.job.is_active:
            name = f"job {self.job.name}"
            fields.button("Try again", f"again {name}", st.session_state.pop, name, None)


def compute_measure(
    translator: Translator, trace: AttentionTrace, measure: tuple[Hashable, ...], title: str,
    work: ModelWork, *, at_once: int = 0,
) -> Any:  # fmt: skip
    """Return a measure of a sentence, cached; this run computes it up to `at_once` subwords.

    Beyond, a job does, named by the first of `measure`. Raises `UnfinishedError` until it is done.
    """
    name, key = str(measure[0]), (measure, *cached_results.key_of(translator, trace))
    longest = max(len(trace.source_pieces), len(trace.target_pieces))
    if longest <= at_once:
        return memory.memo(key, lambda: work(translator, lambda *_: end_if_unwanted()))
    job, result = current(name), memory.recall(key)
    if result is None and (job is None or job.key != key):
        lane: LaneName = "short" if longest <= SHORT else "long"
        # of two jobs of the same measure, one waits for the other
        shared = lambda *given: memory.memo(key, lambda: work(*given))  # noqa: E731
        job = start_with_model(name, key, title, translator.folder, shared, lane)
        job.wait(PATIENCE)
    if job is not None and job.key == key and job.result is not None:
        result = st.session_state.pop(f"job {name}").result
    if job is not None and result is None:
        raise UnfinishedError(job)
    return result
