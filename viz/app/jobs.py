"""Long work in the background, with its progress bar.

Jobs wait in three lanes: many lines keep no sentence waiting, and a long sentence no short one. A
job continues on other pages, and ends with the session that began it.
"""

import logging
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import streamlit as st
import torch

from transformer import AttentionTrace, Translator, errors
from viz.app.cache import cached_results, memory, search_queue
from viz.app.chrome import explanations, fields, problems
from viz.app.log import log_refusal
from viz.app.models import menu
from viz.app.streamlit_internals import end_if_unwanted, is_connected, session_name
from viz.draw import formatting

T = TypeVar("T")
State = Literal["waiting", "running", "done", "failed", "cancelled", "out of time"]
Work = Callable[[cached_results.Report, Callable[[], bool]], T]
"""Work that reports many times a second, in its own thread, where nothing can be drawn: a report
raises `JobEnded` once the job has ended, and the second argument says so without raising. It takes
a model by `viz.app.models.menu.in_use`: a job that waits holds no memory."""

LONGEST = 30 * 60.0  # largest duration of a job, in seconds
SURE_AFTER = 10.0  # seconds of a job before its remaining time is estimated

_TICK = 0.02  # seconds between two looks at a job that a run waits for

AWAY = 5.0  # seconds in which a browser that lost its connection may come back to its job

Lane = Literal["lines", "long", "short"]

MAX_WAITING: dict[Lane, int] = {"lines": 8, "long": 16, "short": 256}
"""Largest numbers of waiting jobs; one client, in all of its tabs, has half of them at most."""

RUNNING: dict[Lane, int] = {"lines": 1, "long": 1, "short": 2}
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
    queue: "JobQueue"  # where it waits
    # what computes the result; None once it is over, so that nothing is held by it
    work: Work[T] | None
    key: Hashable = None  # of its result in the memo, if it has one
    state: State = "waiting"  # the last one is final
    # parts that are done, of how many, and what is being done
    progress: tuple[int, int, str] = (0, 1, "")
    part: Any = None  # the result so far, if the work reports one
    result: T | None = None  # the result where it is done
    error: str = ""  # a sentence where it failed or was out of time, or ""
    began: float | None = None  # time by the clock of the queue; likewise of its end
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
        now = self.queue.clock() if self.ended is None else self.ended
        return 0.0 if self.began is None else now - self.began

    def cancel(self) -> None:
        """End it, where it has not ended; its thread follows with its next report."""
        self.end("cancelled")

    def should_stop(self) -> bool:
        """Return whether the job has ended: done, cancelled, out of time, or without session."""
        if self.is_active:
            now, before = self.queue.clock(), self._away_since  # once: worker and bar both ask
            away = None if is_connected(self.session) else now if before is None else before
            self._away_since = away
            if away is not None and now - away >= AWAY:
                self.cancel()
            elif self.seconds >= LONGEST:
                self.end("out of time", error=OUT_OF_TIME)
        return not self.is_active

    def _report(self, done: int, total: int, now: str = "", part: object = None, /) -> None:
        if self.should_stop():
            raise JobEnded
        self.progress, self.part = (done, total, now), part or self.part

    def wait(self, seconds: float) -> None:
        """Wait in a run of a page until it has ended, or so many seconds."""
        end = time.monotonic() + seconds
        with search_queue.without_turn():
            while self.is_active and time.monotonic() < end:
                end_if_unwanted()
                time.sleep(_TICK)

    def run(self) -> None:
        """Do the work: called once by the queue, in a thread."""
        torch.set_num_threads(1)  # of this thread
        with self._lock:
            work = self.work
            if work is None:  # it was cancelled
                return
            self.state, self.began = "running", self.queue.clock()
        try:
            self.end("done", result=work(self._report, self.should_stop))
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
                self.result, self.error, self.ended = result, error, self.queue.clock()
                self.state, self.work = state, None


class JobQueue:
    """The jobs that run and those that wait, in turns: no client twice while another waits."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, lane: Lane = "lines") -> None:
        self.clock, self._most, self._at_once = clock, MAX_WAITING[lane], RUNNING[lane]
        self._running: list[Job] = []
        self._last = ""  # the client of the job that ran last
        self._waiting: list[Job] = []
        self._lock = threading.Lock()

    def add(self, job: Job) -> None:
        """Begin a job, let it wait, or refuse it where too many wait."""
        with self._lock:
            self._sweep()
            count = len(self._waiting)
            own = sum(other.client == job.client for other in self._waiting)
            if count >= self._most or own >= self._most // 2:
                is_crowd = own >= self._most // 2
                error = FULL_OF_YOURS.format(own) if is_crowd else FULL.format(count)
                job.end("failed", error=error)
                log_refusal("too many jobs")
                return
            self._waiting.append(job)
            self._advance()

    def ahead(self, job: Job) -> int:
        """Return how many jobs run or wait before this one; a cancelled job does not count."""
        with self._lock:
            self._sweep()
            if job not in self._waiting:
                return 0
            return self._in_turns().index(job) + sum(other.is_active for other in self._running)

    def _sweep(self) -> None:
        self._waiting = [job for job in self._waiting if not job.should_stop()]

    def _in_turns(self) -> list[Job]:
        """Return the jobs that wait in the order in which they run."""
        left, jobs, last = list(self._waiting), list[Job](), self._last
        while left:
            job = next((job for job in left if job.client != last), left[0])
            left.remove(job)
            jobs.append(job)
            last = job.client
        return jobs

    def _advance(self) -> None:
        while len(self._running) < self._at_once and self._waiting:
            job = self._in_turns()[0]
            self._waiting.remove(job)
            self._last = job.client
            threading.Thread(target=self._run, args=(job,), name="job", daemon=True).start()
            self._running.append(job)

    def _run(self, job: Job) -> None:
        try:
            job.run()
        finally:
            with self._lock:
                self._running.remove(job)
                self._sweep()
                self._advance()
                is_idle = not self._running
            if is_idle:
                memory.call_heap("malloc_trim", 0)  # what is freed goes back to the system


@memory.server_wide
def _queues() -> dict[Lane, JobQueue]:
    return {lane: JobQueue(lane=lane) for lane in MAX_WAITING}


def start(
    name: str, title: str, work: Work[T], lane: Lane = "lines", key: Hashable = None
) -> Job[T]:
    """Start work for this session, titled on the screen, in place of its job of this name."""
    if (earlier := current(name)) is not None:
        earlier.cancel()
    client = search_queue.current_client()
    job = Job(name, title, session_name(), client, _queues()[lane], work, key)
    # first: it may end this run, and with it the only handle
    st.session_state[f"job {name}"] = job
    job.queue.add(job)
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
    if job.should_stop() or job.part is not drawn:
        st.rerun()  # only a run of the whole page ends the fragment's repetition
    done, total, now = job.progress
    share, spent = min(max(done / max(total, 1), 0.0), 1.0), job.seconds
    if ahead := job.queue.ahead(job):
        times = f"waits for {formatting.counted(ahead, 'other')}"
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


def get_or_offer(
    name: str,
    key: Hashable,
    title: str,
    folder: Path,
    work: ModelWork,
    label: str,
    *,
    start_now: bool = False,
) -> Any:
    """Return the result under a key of the memo, or None and draw the button that starts its job.

    `start_now` means that the user has pressed another button for it.
    """
    job = current(name)
    if job is not None and job.result is not None:
        computed, computed_result = job.result
        memory.memo(computed, lambda: computed_result)
    if (result := memory.recall(key)) is not None:
        return result
    if job is not None:
        show(job)
    is_active = job is not None and job.is_active
    if start_now or (not is_active and st.button(label, key=f"{name}-start")):
        start_with_model(name, key, title, folder, work)
        st.rerun()
    return None


def start_with_model(
    name: str, key: Hashable, title: str, folder: Path, work: ModelWork, lane: Lane = "lines"
) -> Job[tuple[Hashable, object]]:
    """Start work with the model of a folder; see `get_or_offer`."""

    def run(report: cached_results.Report, _should_stop: object) -> tuple[Hashable, object]:
        def report_part(done: int, total: int, now: str = "", part: object = None, /) -> None:
            report(done, total, STEPS.get(now, now), part)

        with menu.in_use(folder, lambda *_: report(0, 1, "loading the model")) as model:
            return key, work(model, report_part)

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


def computed(
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
        lane: Lane = "short" if longest <= SHORT else "long"
        # of two jobs of the same measure, one waits for the other
        shared = lambda *given: memory.memo(key, lambda: work(*given))  # noqa: E731
        job = start_with_model(name, key, title, translator.folder, shared, lane)
        job.wait(PATIENCE)
    if job is not None and job.key == key and job.result is not None:
        _, result = st.session_state.pop(f"job {name}").result
    if job is not None and result is None:
        raise UnfinishedError(job)
    return result
