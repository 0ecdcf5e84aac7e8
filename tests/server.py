"""Servers of the app and of other programs, and a session of the app without a browser."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

from tests.kit import free_port, is_well
from transformer import HeadlightError

ROOT = Path(__file__).parents[1]
MAX_MESSAGE = 2**26  # bytes
START, ANSWER = 60.0, 30.0  # seconds until a server listens, and until a run ends


class NoServer(HeadlightError):
    """A server that does not start, or a run that does not end."""


@dataclass(frozen=True)
class Server:
    """A running server, whose log has all that it prints."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def address(self) -> str:
        """The address for a browser."""
        return f"http://127.0.0.1:{self.port}"

    def processor_time(self) -> float:
        """Return the processor time of all threads so far, in seconds."""
        return processor_time(self.process.pid)

    def megabytes(self) -> float:
        """Return the resident memory now, in MiB."""
        return megabytes(self.process.pid)


def processor_time(pid: int) -> float:
    """Return the processor time of all threads of a process so far, in seconds."""
    status = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2]
    return sum(map(int, status.split()[11:13])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid: int) -> float:
    """Return the resident memory of a process now, in MiB."""
    pages = Path(f"/proc/{pid}/statm").read_text("utf-8").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


def served(script: str = "app.py") -> AbstractContextManager[Server]:
    """Serve a script by Streamlit; a context manager."""
    return running(["streamlit", "run", script, "--server.port={port}"])


def headlight_app(log: Path, *options: str) -> AbstractContextManager[Server]:
    """Run `headlight app` with these options; a context manager."""
    return running(["headlight", "app", "--port", "{port}", *options], log=log)


@contextmanager
def running(
    arguments: Sequence[str],
    log: Path = Path(os.devnull),
    environment: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """Run a Python module on a free port until the block ends; a context manager.

    One of its arguments holds `{port}`.
    """
    port = free_port()
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", *(argument.format(port=port) for argument in arguments)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    server = Server(port, process, log)
    try:
        if not is_well(server.address, lambda: process.poll() is None, START):
            printed = server.log.read_text("utf-8", "replace") if server.log.is_file() else ""
            raise NoServer(f"The server did not start: {printed[-800:]}")
        yield server
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()


@dataclass
class Answer:
    """The page that a run sent."""

    widgets: dict[str, str] = field(default_factory=dict)  # kind by id, such as `text_input`
    exceptions: list[str] = field(default_factory=list)  # texts of error boxes
    query: str = ""  # of the URL that the run wrote last


class ForgedSession:
    """A session of the app without a browser; a context manager."""

    def __init__(self, server: Server) -> None:
        self._connecting = connect(
            f"ws://127.0.0.1:{server.port}/_stcore/stream",
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=MAX_MESSAGE,
            ping_interval=None,
        )
        self.id = ""

    def __enter__(self) -> "ForgedSession":
        self._connection = self._connecting.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._connecting.__exit__(kind, error, traceback)

    def run(
        self,
        page: str = "",
        query: str = "",
        states: Sequence[WidgetState] = (),
        *,
        goes_back: bool = False,
    ) -> Answer:
        """Ask for a run, as a browser whose user `goes_back` to a URL if so, and wait for its end.

        Raises:
            NoServer: if the run does not end in time.
            websockets.ConnectionClosed: if the server refuses the message.
        """
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = page
        message.rerun_script.is_history_navigation = goes_back
        message.rerun_script.widget_states.widgets.extend(states)
        self._connection.send(message.SerializeToString())
        answer = Answer()
        end = time.monotonic() + ANSWER
        while (left := end - time.monotonic()) > 0:
            try:
                data = self._connection.recv(left, decode=False)
            except TimeoutError:
                break
            reply = ForwardMsg.FromString(data)
            kind = reply.WhichOneof("type")
            if kind == "new_session":
                self.id = reply.new_session.initialize.session_id or self.id
            elif kind == "delta" and reply.delta.WhichOneof("type") == "new_element":
                element = reply.delta.new_element
                name = element.WhichOneof("type") or ""
                if name == "exception":
                    answer.exceptions.append(element.exception.message)
                elif identifier := getattr(getattr(element, name, None), "id", ""):
                    answer.widgets[identifier] = name
            elif kind == "page_info_changed":
                answer.query = reply.page_info_changed.query_string
            elif kind == "script_finished":
                return answer
        raise NoServer(f"No run of the page {page!r} came to its end within {ANSWER:g} s.")
