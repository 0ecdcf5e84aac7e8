"""Bounds and verdicts of the tests that try hostile input, here a little and by profile long."""

import contextlib
import io
import logging
import os
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from transformer import HeadlightError

T = TypeVar("T")
IS_LONG = not settings().derandomize  # --hypothesis-profile=long
SECONDS, GIGABYTES = 20, 3
"""Time that one input may take, and address space beyond what the process has."""


def examples(count: int, long: int) -> settings:
    """Settings of a test: examples in every run, and in the long one."""
    return settings(
        max_examples=long if IS_LONG else count,
        deadline=1_000 * SECONDS,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.function_scoped_fixture,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
        ],
    )


def assert_plain(sentence: str) -> None:
    assert sentence.endswith(".")
    assert sentence.isprintable()
    assert len(sentence) < 1_500


@contextlib.contextmanager
def bounded_memory() -> Iterator[None]:
    """Limit the address space, so that whoever asks for much more gets a MemoryError."""
    status = Path("/proc/self/status")
    if not status.exists():
        yield
        return
    fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
    used = int(fields["VmSize"].split()[0]) * 1024
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + GIGABYTES * 2**30, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextlib.contextmanager
def accepted_or_refused() -> Iterator[None]:
    """Let the block refuse its input in one plain sentence; any other exception fails the test."""
    try:
        with bounded_memory():
            yield
    except HeadlightError as error:
        assert_plain(str(error))
        event("refused")
    else:
        event("accepted")


def run_main(
    main: Callable[[list[str]], object], arguments: Sequence[str], stdin: bytes = b""
) -> tuple[object, str, str]:
    """Call a command as a shell does: exit status, standard output, standard error."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape", newline="")
    err, before = io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = main(list(arguments))
            except SystemExit as exit_:  # as argparse does
                status = exit_.code
    finally:
        sys.stdin = before
    out.flush()
    return status, out.buffer.getvalue().decode("utf-8", "surrogateescape"), err.getvalue()


@contextlib.contextmanager
def no_errors_logged() -> Iterator[None]:
    """Bound the memory, and fail if an error is logged, as each exception of a page is."""
    messages: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(f"{record.getMessage():.200}")

    handler = Collect(logging.ERROR)
    loggers = logging.getLogger(), logging.getLogger("streamlit")
    for logger in loggers:
        logger.addHandler(handler)
    try:
        with bounded_memory():
            yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
    assert messages == []


SPECIAL = ["missing", "pipe", "folder", "/dev/zero", "/dev/null", "/etc/passwd", "12 GB", "loop"]


def put_special(path: Path, kind: str) -> None:
    """Put something where a file belongs that is none, or none that can be read."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "12 GB":  # of holes
        with path.open("wb") as file:
            file.truncate(12 * 10**9)
    elif kind != "missing":
        path.symlink_to(path.name if kind == "loop" else kind)


def calls(function: Callable[..., T], **fields: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Draw calls of a function by its keyword arguments; what else it takes is left open."""
    return st.builds(partial, st.just(function), **fields)


def change_bytes(
    path: Path, places: list[tuple[float, int]], end: float = 1.0, first: int = 10**9
) -> None:
    """Change bytes at places from 0 to 1, of the first ones or all, and cut a file there."""
    content = bytearray(path.read_bytes())
    for place, byte in places:
        content[int(place * min(len(content), first))] = byte
    path.write_bytes(content[: int(end * len(content))])


PLACE = st.floats(0, 1, exclude_max=True)
BYTES = st.lists(st.tuples(PLACE, st.integers(0, 255)), min_size=1, max_size=20)
