"""Long work in the background, with its progress bar: one job at a time on the server.

The server has two cores: while a job takes one, the other serves users. A job continues on other
pages, and ends with the session that began it.
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

from transformer import Translator, errors
from viz.app.cache import cached_results, memory, search_queue
from viz.app.cache.metrics import count_refusal, metrics
from viz.app.chrome import explanations, fields, problems
from viz.app.models import menu
from viz.app.streamlit_internals import is_connected, session_name
from viz.draw import formatting

T = TypeVar("T")
State = Literal["waiting", "running", "done", "failed", "cancelled", "out of time"]
Work = Callable[[cached_results.Report, Callable[[], bool]], T]
"""Work that reports many times a second, in its own thread, where nothing can be drawn: a report
raises `JobEnded` once the job has ended, and the second argument says so without raising. It takes
a model by `viz.app.models.menu.in_use`: a job that waits holds no memory."""

LONGEST = 30 * 60.0  # largest duration of a job, in seconds
SURE_AFTER = 10.0  # seconds of a job before its remaining time is estimated

AWAY = 5.0  # seconds in which a browser that lost its connection may come back to its job

MAX_WAITING, MAX_PER_CLIENT = 8, 4
"""Largest numbers of waiting jobs, and of those of one client, in all of its tabs."""

OUT_OF_TIME = f"This took longer than {LONGEST / 60:.0f} minutes and was stopped: ask for less."
OUT_OF_MEMORY = "The server has too little memory for this: ask for less."
BROKEN = "This failed, and the server's log says why: try it again."
FULL = f"{MAX_WAITING} others wait for this server already: try again in a few minutes."
FULL_OF_YOURS = (
    f"{MAX_PER_CLIENT} others from your network wait already: try again in a few minutes."
)

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
    state: State = "waiting"  # the last one is final
    # parts that are done, of how many, and what is being done
    progress: tuple[int, int, str] = (0, 1, "")
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

    def _report(self, done: int, total: int, now: str = "", /) -> None:
        if self.should_stop():
            raise JobEnded
        self.progress = done, total, now

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
            metrics().errors.inc()
            self.end("failed", error=BROKEN)

    def end(self, state: State, *, result: T | None = None, error: str = "") -> None:
        """Set the final state, if there is none."""
        with self._lock:
            if self.is_active:
                self.result, self.error, self.ended = result, error, self.queue.clock()
                self.state, self.work = state, None


class JobQueue:
    """The job that runs and those that wait, in turns: no client twice while another waits."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._running: Job | None = None
        self._last = ""  # the client of the job that ran last
        self._waiting: list[Job] = []
        self._lock = threading.Lock()

    def add(self, job: Job) -> None:
        """Begin a job, let it wait, or refuse it where too many wait."""
        with self._lock:
            self._sweep()
            own = sum(other.client == job.client for other in self._waiting)
            if len(self._waiting) >= MAX_WAITING or own >= MAX_PER_CLIENT:
                job.end("failed", error=FULL_OF_YOURS if own >= MAX_PER_CLIENT else FULL)
                count_refusal("too many jobs")
                return
            self._waiting.append(job)
            self._advance()

    def ahead(self, job: Job) -> int:
        """Return how many jobs come before one that waits."""
        with self._lock:
            self._sweep()
            if job not in self._waiting:
                return 0
            return self._in_turns().index(job) + (self._running is not None)

    def count(self, state: State) -> int:
        """Return how many jobs wait, or run."""
        with self._lock:
            self._sweep()
            return len(self._waiting) if state == "waiting" else self._running is not None

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
        if self._running is None and self._waiting:
            job = self._in_turns()[0]
            self._waiting.remove(job)
            self._last = job.client
            threading.Thread(target=self._run, args=(job,), name="job", daemon=True).start()
            self._running = job

    def _run(self, job: Job) -> None:
        try:
            job.run()
        finally:
            with self._lock:
                self._running = None
                self._sweep()
                self._advance()


@memory.server_wide
def _queue() -> JobQueue:
    return JobQueue()


def count(state: State) -> int:
    """Return how many jobs of this server wait, or run."""
    return _queue().count(state)


def start(name: str, title: str, work: Work[T]) -> Job[T]:
    """Start work for this session, titled on the screen, in place of its job of this name."""
    if (earlier := current(name)) is not None:
        earlier.cancel()
    job = Job(name, title, session_name(), search_queue.current_client(), _queue(), work)
    # first: it may end this run, and with it the only handle
    st.session_state[f"job {name}"] = job
    job.queue.add(job)
    return job


def current(name: str) -> Job[Any] | None:
    """Return the last job of a name in this session, whatever its state."""
    job: Job[Any] | None = st.session_state.get(f"job {name}")
    return job


def show(job: Job) -> None:
    """Draw a job until it ends, when the page is drawn once more; then its error, if it has one."""
    if job.is_active:
        st.fragment(_bar, run_every="1s")(job)
    elif job.error:
        st.text(job.error)


def _bar(job: Job) -> None:
    if job.should_stop():
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


def start_with_model(name: str, key: Hashable, title: str, folder: Path, work: ModelWork) -> None:
    """Start work with the model of a folder; see `get_or_offer`."""

    def run(report: cached_results.Report, _should_stop: object) -> tuple[Hashable, object]:
        def report_part(done: int, total: int, part: str = "", /) -> None:
            report(done, total, STEPS.get(part, part))

        with menu.in_use(folder, lambda *_: report(0, 1, "loading the model")) as model:
            return key, work(model, report_part)

    start(name, title, run)
