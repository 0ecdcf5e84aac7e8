"""A process that tries one input after another, within bounds, and is replaced when it dies."""

from __future__ import annotations

import multiprocessing
import resource
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

SECONDS = 20.0
"""An input that takes longer is bad."""

GIGABYTES = 3
"""Of address space, beyond what the process has before its first input."""


@dataclass(frozen=True)
class Reply:
    """What became of one call.

    Args:
        value: what the task returned.
        failure: an exception that the task did not expect, a time-out or a death; empty for none.
        seconds: how long it took.
        megabytes: peak memory that it added.
    """

    value: Any = None
    failure: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0


class Worker:
    """Calls a task in another process.

    Args:
        task: a function of a module, which another process can import.
    """

    def __init__(self, task: Callable[[Any], Any]) -> None:
        self.task = task
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stop()

    def call(self, argument: Any) -> Reply:
        """Call the task; a process that dies or hangs is replaced."""
        started = time.perf_counter()
        self._ours.send(argument)
        failure = f"nothing for {SECONDS:.0f} s"
        if self._ours.poll(SECONDS):
            try:
                reply: Reply = self._ours.recv()
                return reply
            except EOFError:
                self._process.join()
                failure = f"the process ended with {self._process.exitcode}"
        self._stop()
        self._start()
        return Reply(failure=failure, seconds=time.perf_counter() - started)

    def _start(self) -> None:
        self._ours, theirs = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(self.task, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._ours.recv()  # ready: what the task imports is loaded, and not counted

    def _stop(self) -> None:
        self._ours.close()  # a process that waits for an input ends
        self._process.join(timeout=1)
        self._process.kill()
        self._process.join()


def _serve(task: Callable[[Any], Any], connection: Connection) -> None:
    _limit_memory()
    connection.send(None)
    while True:
        try:
            argument = connection.recv()
        except EOFError:
            return
        started, before = time.perf_counter(), _peak_megabytes()
        value, failure = None, ""
        try:
            value = task(argument)
        except Exception:  # noqa: BLE001 (any at all is what is looked for)
            failure = traceback.format_exc(limit=-3)
        seconds = time.perf_counter() - started
        connection.send(Reply(value, failure, seconds, _peak_megabytes() - before))


def _limit_memory() -> None:
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        now = int(fields["VmSize"].split()[0]) * 1024
        limit = now + GIGABYTES * 2**30
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
