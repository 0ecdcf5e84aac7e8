"""Background work goes on while the training does, and what goes wrong in it is not lost."""

from __future__ import annotations

import threading

from training.run.saving import Background


def test_a_job_is_not_waited_for_and_its_failure_is_kept() -> None:
    go_on, done = threading.Event(), []

    def fail() -> None:
        go_on.wait()
        done.append(True)
        raise OSError(28, "No space left on device")

    background = Background()
    assert background.failure(wait=True) is None
    background.start(fail)
    assert background.failure(wait=False) is None
    assert not done
    go_on.set()
    failure = background.failure(wait=True)
    assert isinstance(failure, OSError)
    assert background.failure(wait=False) is failure
    background.start(lambda: done.append(False))
    assert background.failure(wait=True) is None
    assert done == [True, False]
    background.close()
