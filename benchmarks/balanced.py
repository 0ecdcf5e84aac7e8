"""Several servers of the app behind HAProxy, as `headlight app --processes` says."""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from headlight.processes import HEALTH, answers
from tests.kit import free_port
from tests.server import ROOT, START, NoServer, megabytes, processor_time

END = 30.0  # seconds until all processes must have ended


@dataclass(frozen=True)
class Balanced:
    """The processes of `headlight app`, and the balancer in front of them."""

    port: int
    ports: list[int]
    parent: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        """The address that people open."""
        return f"http://127.0.0.1:{self.port}"

    def pid(self, port: int) -> int:
        """Return the process that serves a port.

        Raises:
            NoServer: if there is none at the moment.
        """
        parent = self.parent.pid
        for child in Path(f"/proc/{parent}/task/{parent}/children").read_text("utf-8").split():
            if f"--port={port}\0".encode() in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
        raise NoServer(f"No process serves port {port}.")

    def processor_time(self) -> float:
        """Return the processor time of all processes so far, in seconds."""
        return sum(processor_time(self.pid(port)) for port in self.ports)

    def megabytes(self) -> float:
        """Return the resident memory of all processes now, in MiB."""
        return sum(megabytes(self.pid(port)) for port in self.ports)

    def wait(self) -> None:
        """Wait until every process answers, and the balancer has seen it.

        Raises:
            NoServer: if one does not in time.
        """
        end = time.monotonic() + START
        while not all(map(answers, [self.port, *self.ports])):
            if time.monotonic() > end or self.parent.poll() is not None:
                raise NoServer(f"Not every process answers {HEALTH} within {START:g} s.")
            time.sleep(0.2)
        time.sleep(3)  # the balancer asks a server that was down every 2 s


@contextmanager
def balanced(processes: int) -> Iterator[Balanced]:
    """Serve by so many processes until the block ends; a context manager."""
    haproxy = shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    if haproxy is None:
        raise NoServer("There is no HAProxy: install it, then measure again.")
    port = free_port()
    command = [sys.executable, "-m", "headlight", "app", f"--port={port}"]
    with ExitStack() as stack:
        log = stack.enter_context(tempfile.TemporaryFile())
        parent = subprocess.Popen(
            [*command, f"--processes={processes}"], cwd=ROOT, stdout=subprocess.PIPE, stderr=log
        )
        stack.callback(_end, parent)
        assert parent.stdout is not None
        configuration = None
        for line in parent.stdout:
            if configuration := re.search(r"haproxy -f (\S+)", line.decode()):
                break
        if configuration is None:
            log.seek(0)
            raise NoServer(f"The processes did not start: {log.read().decode()[-800:]}")
        balancer = subprocess.Popen([haproxy, "-f", configuration[1]], stdout=log, stderr=log)
        stack.callback(_end, balancer)
        servers = Balanced(port, list(range(port + 1, port + 1 + processes)), parent)
        servers.wait()
        yield servers


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
