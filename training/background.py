"""Work that the training does not wait for, in one background thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class Background:
    """Does one job at a time; what goes wrong in it is kept until somebody asks."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="files")
        self._job: Future[None] | None = None

    def start(self, job: Callable[[], None]) -> None:
        """Begin a job, after the one before; whoever starts one has asked for its failure."""
        self._job = self._thread.submit(job)

    def failure(self, *, wait: bool) -> BaseException | None:
        """What went wrong in the last job, as far as it is done.

        Args:
            wait: until it is done.
        """
        if self._job is None or not (wait or self._job.done()):
            return None
        return self._job.exception()

    def close(self) -> None:
        """Wait for the last job, and end the thread."""
        self._thread.shutdown(wait=True)
