"""Jobs of a plan, in processes of the fork server that all tests share."""

from __future__ import annotations

import pytest

from tests.forkserver import forkserver


@pytest.fixture(scope="session")
def _one_fork_server() -> None:
    """Started here, before a plan starts one whose processes compute on as many threads as cores.

    A process has one fork server, so that of the plan would be the one of all later tests, too, and
    a run on two threads is equal to one on a single thread only to within rounding.
    """
    forkserver()
