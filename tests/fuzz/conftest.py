"""A bound on the memory of every test that tries hostile input."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

GIGABYTES = 3


@pytest.fixture(autouse=True, scope="module")
def _bounded_memory() -> Iterator[None]:
    """Limit the address space, so that whoever asks for more gets a MemoryError."""
    status = Path("/proc/self/status")
    if not status.exists():
        yield
        return
    fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
    used = int(fields["VmSize"].split()[0]) * 1024
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + GIGABYTES * 2**30, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
