"""A server of the app, and a session that sends it whatever no browser would."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

from transformer import HeadlightError

ROOT = Path(__file__).parents[2]
LARGEST_MESSAGE = 2**26  # bytes
START, ANSWER = 60.0, 30.0
"""Seconds until a server listens, and until a run ends."""


class NoServer(HeadlightError):
    """A server that does not start, or a run that does not end."""


@dataclass(frozen=True)
class Server:
    """A running `headlight app`.

    Args:
        port: where it listens.
        process: its process.
        log: all that it prints.
    """

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def address(self) -> str:
        """The address for a browser."""
        return f"http://127.0.0.1:{self.port}"

    def megabytes(self) -> float:
        """Resident memory of the process now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("utf-8")
        (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024


@contextmanager
def served(log: Path, *options: str) -> Iterator[Server]:
    """Run `headlight app` on a free port until the block ends; a context manager.

    Args:
        log: the file for all that it prints.
        options: of the command.

    Raises:
        NoServer: if it does not listen in time.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "headlight", "app", "--port", str(port), *options]
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)
    server = Server(port, process, log)
    try:
        _wait(server)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=10)


def _wait(server: Server) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end and server.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.address}/_stcore/health", timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise NoServer(f"The server did not start: {server.log.read_text('utf-8', 'replace')[-800:]}")


@dataclass(frozen=True)
class Answer:
    """The page that a run sent.

    Args:
        widgets: the kind of each widget by its id, such as `text_input`.
        exceptions: the text of each error box.
        page: the messages of the run, as bytes.
    """

    widgets: dict[str, str]
    exceptions: list[str]
    page: bytes


class ForgedSession:
    """A session of the app without a browser; a context manager.

    Args:
        server: the server that it talks to.
    """

    def __init__(self, server: Server) -> None:
        self._connecting = connect(
            f"ws://127.0.0.1:{server.port}/_stcore/stream",
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=LARGEST_MESSAGE,
            ping_interval=None,
        )
        self.id = ""

    def __enter__(self) -> ForgedSession:
        self._connection = self._connecting.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._connecting.__exit__(kind, error, traceback)

    def run(self, page: str = "", query: str = "", states: Sequence[WidgetState] = ()) -> Answer:
        """Ask for a run and wait for its end.

        Args:
            page: path of the page.
            query: of the address.
            states: of the widgets, as the browser claims.

        Raises:
            NoServer: if the run does not end in time.
            websockets.ConnectionClosed: if the server refuses the message.
        """
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = page
        message.rerun_script.widget_states.widgets.extend(states)
        self._connection.send(message.SerializeToString())
        widgets: dict[str, str] = {}
        exceptions: list[str] = []
        received: list[bytes] = []
        end = time.monotonic() + ANSWER
        while (left := end - time.monotonic()) > 0:
            try:
                data = self._connection.recv(left, decode=False)
            except TimeoutError:
                break
            received.append(data)
            reply = ForwardMsg.FromString(data)
            kind = reply.WhichOneof("type")
            if kind == "new_session":
                self.id = reply.new_session.initialize.session_id or self.id
            elif kind == "delta" and reply.delta.WhichOneof("type") == "new_element":
                element = reply.delta.new_element
                name = element.WhichOneof("type") or ""
                if name == "exception":
                    exceptions.append(element.exception.message)
                elif identifier := getattr(getattr(element, name, None), "id", ""):
                    widgets[identifier] = name
            elif kind == "script_finished":
                return Answer(widgets, exceptions, b"".join(received))
        raise NoServer(f"No run of the page {page!r} came to its end within {ANSWER:g} s.")
