"""Long work in the background: whose it is, when it runs, and what ends it."""

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch
from streamlit.runtime import Runtime
from streamlit.testing.v1 import AppTest

from transformer import InputError, Translator
from viz.app import jobs
from viz.app.cache.cached_results import Report
from viz.app.jobs import AWAY, LONGEST, Job, Work, lane_of_jobs
from viz.app.models.menu import CHECKPOINT_VARIABLE

PATIENCE = 10.0
MAX_WAITING = jobs.MAX_WAITING["lines"]
MAX_PER_CLIENT = MAX_WAITING // 2


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def add(clock: Clock) -> Iterator[Callable[..., Job]]:
    """Add work to a queue of its own; what is left of it is cancelled."""
    lane, added = lane_of_jobs("lines"), []

    def add_work(work: Work[Any], session: str = "mine", client: str | None = None) -> Job:
        job: Job[Any] = Job("name", "Title", session, client or session, lane, work, clock=clock)
        job.wait_in_lane()
        added.append(job)
        return job

    yield add_work
    for job in added:
        job.cancel()


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> float:
    """Wait for something; the seconds that it took."""
    began = time.perf_counter()
    while not condition():
        assert time.perf_counter() - began < seconds
        time.sleep(0.002)
    return time.perf_counter() - began


def endless(report: Report) -> None:
    for number in range(10**9):
        report(number, 10**9, "now")
        time.sleep(0.001)


def multiply(report: Report) -> None:
    """Work of a core, which catches every exception that it can."""
    while True:
        with suppress(Exception):
            sum(range(1000))
            report(0, 1)


def test_a_cancelled_job_lets_go_of_its_core_within_a_second(add, monkeypatch) -> None:
    cores: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", cores.append)  # of the job's thread
    job, other = add(multiply), add(lambda report: "next")
    until(lambda: job.state == "running")
    assert other.state == "waiting"
    job.cancel()
    assert until(lambda: other.state == "done") < 1
    assert (other.result, job.state, job.result, cores) == ("next", "cancelled", None, [1, 1])


def test_jobs_run_one_at_a_time_in_the_order_in_which_they_came(add: Callable[..., Job]) -> None:
    order: list[int] = []
    go_on, core = threading.Event(), threading.Lock()

    def numbered(number: int) -> Work[int]:
        def work(report: Report) -> int:
            assert core.acquire(blocking=False)
            assert go_on.wait(PATIENCE)
            order.append(number)
            core.release()
            return number

        return work

    added = [add(numbered(n), f"session {n}") for n in range(1 + MAX_WAITING)]
    until(lambda: added[0].state == "running")
    ninth = add(numbered(99))
    assert (ninth.state, ninth.error) == ("failed", jobs.FULL.format(MAX_WAITING))
    assert [job.ahead for job in added] == list(range(1 + MAX_WAITING))
    added[2].cancel()
    added.append(add(numbered(9)))
    assert [job.ahead for job in added[3:]] == list(range(2, 1 + MAX_WAITING))
    added[0].cancel()  # its thread goes on for a moment, and nobody waits for it
    assert [job.ahead for job in added[3:]] == list(range(1, MAX_WAITING))
    go_on.set()
    until(lambda: not any(job.is_active for job in added))
    assert [job.result for job in added if job.state == "done"] == [1, *range(3, 10)]
    assert order == [0, 1, *range(3, 10)]


def test_clients_take_turns_and_none_has_all_places(add: Callable[..., Job]) -> None:
    order: list[str] = []
    go_on = threading.Event()

    def named(name: str) -> Work[None]:
        def work(report: Report) -> None:
            assert go_on.wait(PATIENCE)
            order.append(name)

        return work

    crowd = [add(named(f"crowd {n}"), f"tab {n}", "crowd") for n in range(9)]
    assert [job.state for job in crowd[1 + MAX_PER_CLIENT :]] == ["failed"] * (8 - MAX_PER_CLIENT)
    full = jobs.FULL_OF_YOURS.format(MAX_PER_CLIENT)
    assert {job.error for job in crowd[1 + MAX_PER_CLIENT :]} == {full}
    other, third = add(named("other"), client="other"), add(named("third"), client="third")
    assert [job.ahead for job in (other, crowd[1], third)] == [1, 2, 3]
    go_on.set()
    until(lambda: not any(job.is_active for job in (*crowd, other, third)))
    assert order == ["crowd 0", "other", "crowd 1", "third", *(f"crowd {n}" for n in (2, 3, 4))]


def test_a_job_ends_with_its_session_and_not_with_a_lost_connection(
    add: Callable[..., Job], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = {"mine", "other", "waiting"}
    runtime = SimpleNamespace(is_active_session=present.__contains__)
    monkeypatch.setattr(Runtime, "_instance", runtime)
    job = add(endless, "mine")
    waiting, last = add(endless, "waiting"), add(endless, "other")

    def reported() -> None:
        before = job.progress[0]
        until(lambda: not job.is_active or job.progress[0] > before + 1)

    present -= {"mine", "waiting"}
    reported()
    assert last.ahead == 2
    clock.now += AWAY - 1
    reported()
    present.add("mine")  # it is back
    reported()
    clock.now += 2
    reported()
    assert job.is_active
    assert last.ahead == 1
    assert waiting.state == "cancelled"
    present.remove("mine")
    reported()
    clock.now += AWAY
    until(lambda: last.state == "running")
    assert job.state == "cancelled"
    assert last.session == "other"


def test_the_time_of_a_job_is_bounded(add: Callable[..., Job], clock: Clock) -> None:
    job, waiting = add(endless), add(endless)
    until(lambda: job.state == "running")
    clock.now = LONGEST - 1
    before = job.progress[0]
    until(lambda: job.progress[0] > before + 1)
    assert (job.state, job.seconds) == ("running", LONGEST - 1)
    clock.now = LONGEST
    until(lambda: waiting.state == "running")  # for which no time has passed
    assert (job.state, job.seconds, waiting.seconds) == ("out of time", LONGEST, 0)
    assert f"{LONGEST / 60:.0f} minutes" in job.error
    clock.now += 1
    assert (job.seconds, waiting.seconds) == (LONGEST, 1)


@pytest.mark.parametrize(
    ("error", "sentence", "logged"),
    [
        (InputError("/srv/secret/model is damaged."), "model is damaged.", 0),
        (MemoryError(), jobs.OUT_OF_MEMORY, 0),
        (ValueError("/srv/secret"), jobs.BROKEN, 1),
    ],
)
def test_an_error_becomes_a_sentence_and_others_go_on(
    add: Callable[..., Job],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    sentence: str,
    logged: int,
) -> None:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, "/srv/secret/model")
    log = MagicMock()
    monkeypatch.setattr(jobs, "_LOG", log)

    def fail(report: Report) -> None:
        report(3, 7, "third")
        raise error

    job, other = add(fail), add(lambda report: "next")
    until(lambda: other.state == "done")
    assert (job.state, job.error, job.result) == ("failed", sentence, None)
    assert job.progress == (3, 7, "third")
    assert log.exception.call_count == logged


def test_a_job_that_ended_holds_nothing_of_its_work(add: Callable[..., Job]) -> None:
    class Model:
        """Something large."""

    def holding(stops: bool) -> tuple[Job, weakref.ref[Model]]:
        model = Model()

        def work(report: Report) -> str:
            while not stops:
                report(0, 1, str(model))
            return str(model)

        return add(work), weakref.ref(model)

    held = [holding(stops) for stops in (True, False, False)]
    until(lambda: held[1][0].state == "running")
    for job, _ in held:
        job.cancel()
    until(lambda: not any(model() for _, model in held))


def test_short_jobs_of_a_class_run_two_at_once_and_wait_for_no_long_one() -> None:
    go_on = threading.Event()
    lock, running, most = threading.Lock(), [0], [0]

    def work(report: Report) -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        assert go_on.wait(PATIENCE)
        with lock:
            running[0] -= 1

    long: Job[Any] = Job("name", "Title", "long", "school", lane_of_jobs("long"), endless)
    long.wait_in_lane()
    short = lane_of_jobs("short")
    pupils = [Job("name", "Title", f"{n}", "school", short, work) for n in range(40)]
    for job in pupils:
        job.wait_in_lane()
    until(lambda: running[0] == 2)
    assert [job.ahead for job in pupils[2:]] == list(range(2, 40))
    go_on.set()
    until(lambda: all(job.state == "done" for job in pupils))
    assert (most[0], long.state) == (2, "running")
    long.cancel()


def sentence_page() -> None:
    import threading
    import time

    import streamlit as st

    from tests.viz.app import test_jobs
    from transformer import Translator
    from viz.app import jobs

    def work(_model, report):
        test_jobs.began.append(threading.current_thread().name)
        report(0, 1, "", "half of it")
        while not test_jobs.go_on.is_set():
            report(0, 1)
            time.sleep(0.001)
        return "all of it"

    translator = Translator.load(test_jobs.folder)
    trace = translator.trace("The dog sleeps in the garden.")
    most = 99 if st.session_state.get("here") else 0
    try:
        st.text(
            jobs.compute_measure(translator, trace, ("what", most), "*Work*", work, at_once=most)
        )
    except jobs.UnfinishedError as unfinished:
        st.text(str(unfinished.job.part))
        unfinished.show(unfinished.job.part)


began: list[str] = []
go_on = threading.Event()
folder = ""


def test_what_takes_long_on_a_sentence_is_a_job_whose_result_serves_everybody(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "folder", translator.folder)
    monkeypatch.setattr(jobs, "PATIENCE", 0.0)
    began.clear()
    go_on.clear()
    app = AppTest.from_function(sentence_page).run()
    until(lambda: app.session_state["job what"].part is not None)
    assert [text.value for text in app.run().text] == ["half of it"]
    assert app.get("progress")[0].proto.text.startswith(r"\*Work\*")
    # who cancels it may start it again
    app.button(key="cancel what").click().run()
    assert not app.get("progress")
    app.button(key="again job what").click().run()
    until(lambda: len(began) == 2)
    go_on.set()
    until(lambda: not app.session_state["job what"].is_active)
    for reader in (app, AppTest.from_function(sentence_page)):
        assert [text.value for text in reader.run().text] == ["all of it"]
        assert not reader.get("progress")
        assert "job what" not in reader.session_state
    assert began == ["job", "job"]
    other = AppTest.from_function(sentence_page)  # a short sentence needs none
    other.session_state["here"] = True
    assert [text.value for text in other.run().text] == ["all of it"]
    assert len(began) == 3
    assert began[2] != "job"


def page() -> None:
    import streamlit as st

    from tests.viz.app.test_jobs import endless
    from viz.app import jobs

    if st.button("Start", key="start"):
        jobs.start("corpus", "*Measure*", endless)
    job = jobs.current("corpus")
    st.text(job.state if job else "none")
    if job:
        jobs.show(job)


def test_a_session_reaches_its_own_job_alone() -> None:
    mine, other = AppTest.from_function(page).run(), AppTest.from_function(page).run()
    first = mine.button(key="start").click().run().session_state["job corpus"]
    until(lambda: first.progress[0] > 0)
    assert other.run().text[0].value == "none"
    second = other.button(key="start").click().run().session_state["job corpus"]
    assert (first.state, second.state) == ("running", "waiting")
    bars = [app.get("progress")[0].proto for app in (mine.run(), other.run())]
    assert [bar.text.split(" · ")[0] for bar in bars] == [r"\*Measure\*"] * 2
    assert "1 other" in bars[1].text
    third = other.button(key="start").click().run().session_state["job corpus"]
    assert (first.state, second.state, third.state) == ("running", "cancelled", "waiting")
    drawn = mine.button(key="cancel corpus").click().run()
    assert (drawn.text[0].value, [*drawn.get("progress")]) == (first.state, [])
    until(lambda: third.state == "running")
    third.cancel()
