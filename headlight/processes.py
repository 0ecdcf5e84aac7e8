"""Several servers of the app on one machine: started together, kept alive, restarted, ended.

Streamlit keeps a session in the memory of its process, and one process computes on one core. So
each process has a port of its own, and a balancer stands in front of them.
"""

import asyncio
import ctypes
import http.client
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from string import Template

from transformer.cli import command
from transformer.cli.cores import usable_cores
from transformer.files.atomic import temporary_folder

ADDRESS = "127.0.0.1"  # where the processes listen: the balancer is on the same machine

MOST = 64  # processes of one machine, at most

TEMPLATE = Path(__file__).with_name("haproxy.cfg")
HEALTH = "/_stcore/health"
PROBE_INTERVAL, PROBE_TIMEOUT = 2.0, 5.0  # seconds
SILENCE = 120.0
"""Seconds without an answer after which a process counts as hung, and a start as failed."""

START_INTERVAL = 5.0  # seconds between two starts of one process, at least

END = 15.0  # seconds until a process that was asked to end is killed

NOTICED = 5.0  # seconds after which a balancer has seen that a process answers, too

_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


class Process:
    """Server of the app on a port, started again whenever it ends or hangs."""

    def __init__(self, arguments: Sequence[str], port: int) -> None:
        self.arguments = arguments
        self.port = port
        self.ready = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None

    async def run(self) -> None:
        """Start it again whenever it ends, until cancelled; return if it never answered at all."""
        answered = False
        try:
            while True:
                began = time.monotonic()
                self._process = await asyncio.create_subprocess_exec(
                    *self.arguments,
                    stdout=subprocess.DEVNULL,  # Streamlit's greeting, with an address for nobody
                    start_new_session=True,  # Ctrl-C is for the parent alone, which ends them all
                    preexec_fn=_die_with_parent,
                )
                probe = asyncio.create_task(self._probe())
                status = await self._process.wait()
                probe.cancel()
                answered |= self.ready.is_set()
                self.ready.clear()
                reason = signal.Signals(-status).name if status < 0 else f"status {status}"
                then = "and another starts" if answered else "before it could answer"
                command.say(f"the process on port {self.port} ended with {reason} {then}.")
                if not answered:
                    return
                await asyncio.sleep(began + START_INTERVAL - time.monotonic())
        finally:
            await self.end()

    async def end(self) -> None:
        """Ask the process to end, and kill it where it takes too long."""
        if self._process is None or self._process.returncode is not None:
            return
        self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), END)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    async def _probe(self) -> None:
        """Note when the process answers, and kill it after `SILENCE`."""
        heard = time.monotonic()
        while time.monotonic() - heard < SILENCE:
            if await asyncio.to_thread(answers, self.port):
                heard = time.monotonic()
                self.ready.set()
            await asyncio.sleep(PROBE_INTERVAL)
        if self._process is not None:
            self._process.kill()


def join_address(host: str, port: int | str) -> str:
    """Join an address and a port as they stand in a link."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def balancer(listen: str, servers: Sequence[str]) -> str:
    """Return the configuration of HAProxy on `listen`, in front of the lines `servers`."""
    template = Template(TEMPLATE.read_text("utf-8"))
    return template.substitute(listen=listen, servers="\n    ".join(servers))


def serve(host: str, port: int, ports: Sequence[int], options: Sequence[str]) -> int:
    """Run a process on each of `ports` until Ctrl-C or SIGTERM; SIGHUP restarts one after another.

    `host` and `port` are the balancer's. Return the exit status: 1 if a process did not start,
    which ends all.
    """
    cores = usable_cores()
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores // len(ports))))  # torch reads it
    app = [sys.executable, "-m", "headlight", "app", f"--host={ADDRESS}", "--processes=1"]
    processes = [Process([*app, f"--port={port}", *options], port) for port in ports]
    servers = [f"server app{port} {ADDRESS}:{port}" for port in ports]
    with temporary_folder() as folder:
        file = folder / "haproxy.cfg"
        file.write_text(balancer(join_address(host, port), servers), "utf-8")
        print(f"Start the balancer, too: haproxy -f {shlex.quote(str(file))}")
        if len(ports) > cores:
            print(f"{len(ports)} processes share {cores} cores: more than {cores} gain nothing.")
        sys.stdout.flush()
        return asyncio.run(run(processes))


async def run(processes: Sequence[Process]) -> int:
    """Keep the processes running until a signal ends them, or one cannot start: then return 1."""
    stop, restart = asyncio.Event(), asyncio.Event()
    had_terminal = os.isatty(0)

    def hang_up() -> None:
        """Tell the end of the terminal, which ends a program, from somebody's wish."""
        (stop if had_terminal and not os.isatty(0) else restart).set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, hang_up)

    runs = [asyncio.create_task(process.run()) for process in processes]
    others = [asyncio.create_task(stop.wait()), asyncio.create_task(_restart(processes, restart))]
    await asyncio.wait([*runs, others[0]], return_when=asyncio.FIRST_COMPLETED)
    for task in (*runs, *others):
        task.cancel()
    await asyncio.gather(*runs, *others, return_exceptions=True)
    return 0 if stop.is_set() else 1


async def _restart(processes: Sequence[Process], wanted: asyncio.Event) -> None:
    """Restart one process after another when it is wanted, each once the one before answers."""
    while True:
        await wanted.wait()
        wanted.clear()
        for process in processes:
            await process.end()
            process.ready.clear()
            try:
                await asyncio.wait_for(process.ready.wait(), SILENCE)
            except TimeoutError:
                command.say(
                    f"the process on port {process.port} does not answer: the "
                    "others stay as they are."
                )
                break
            await asyncio.sleep(NOTICED)
        else:
            command.say("all processes were restarted.")


def answers(port: int) -> bool:
    """Return whether the server on a port of this machine says that it is well."""
    connection = http.client.HTTPConnection(ADDRESS, port, timeout=PROBE_TIMEOUT)
    try:
        connection.request("GET", HEALTH)
        return connection.getresponse().status < 500  # 404 where the app has a base path
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _die_with_parent() -> None:
    """Have the process ended where the parent was killed and could not do it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGTERM)
