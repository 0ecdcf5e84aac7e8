"""Jobs of a plan, in processes of the fork server that all tests share."""

from __future__ import annotations

import pytest

from tests.forkserver import forkserver


@pytest.fixture(scope="session")
def _one_fork_server() -> None:
    """Started here, before a plan starts one that has not the imports which the others wait for.

    A process has one fork server, so that of the plan would be the one of all later tests, too.
    """
    forkserver()
