import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headlight import processes

ROOT = Path(__file__).parents[2]
STAND_IN = Path(__file__).with_name("stand_in.py")
FOR_COMPOSE = "server-template app 1-8 app:8501 resolvers docker init-addr none"

RUN = """
import asyncio, os, sys
from headlight import processes
if silence := os.environ.get("SILENCE"):
    processes.SILENCE = float(silence)
processes.START_INTERVAL, processes.PROBE_INTERVAL, processes.NOTICED = 0.4, 0.02, 0.1
servers = [
    processes.Process([sys.executable, *sys.argv[1].split(), port], int(port))
    for port in sys.argv[2:]
]
sys.exit(asyncio.run(processes.run(servers)))
"""


@pytest.fixture
def haproxy() -> str:
    """Path of HAProxy; without one the test is skipped, or fails where it must not be missing."""
    path = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
    if path is None and os.environ.get("HEADLIGHT_REQUIRE_HAPROXY") == "1":
        pytest.fail("no HAProxy on this machine", pytrace=False)
    if path is None:
        pytest.skip("no HAProxy on this machine")
    return path


@pytest.fixture
def ports():
    """Three ports that nobody listens on."""
    probes = [socket.socket() for _ in range(3)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    numbers = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return numbers


@pytest.fixture
def start():
    """Start a process that is ended after the test."""
    started = []

    def start(*arguments, **options):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(arguments, cwd=ROOT, env=environment, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def get(port, cookie=""):
    """Get the process that answers on a port and the cookie that it gives; None for no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/", headers={"Cookie": cookie} if cookie else {})
        reply = connection.getresponse()
        text = reply.read()
        given = (reply.headers["Set-Cookie"] or "").partition(";")[0]
        return (int(text), given) if reply.status == 200 else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def until(condition):
    """Wait until the condition holds; return what it gives."""
    end = time.monotonic() + 20
    while not (value := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return value


@pytest.mark.slow
def test_processes_are_started_again_restarted_in_turn_and_ended_together(ports, start):
    near, far, _ = ports
    parent = start(sys.executable, "-c", RUN, str(STAND_IN), str(near), str(far))
    first, second = until(lambda: get(near)), until(lambda: get(far))
    time.sleep(0.2)  # the parent has seen both
    os.kill(first[0], signal.SIGKILL)
    third = until(lambda: get(near))
    assert third != first
    assert get(far) == second
    time.sleep(0.2)
    parent.send_signal(signal.SIGHUP)

    def renewed():
        pair = get(near), get(far)
        assert pair != (None, None)  # one of them always answers
        return pair if None not in pair and pair[0] != third and pair[1] != second else None

    answering = until(renewed)
    parent.send_signal(signal.SIGTERM)
    assert parent.wait(20) == 0
    for pid, _ in answering:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.slow
def test_a_restart_stops_at_a_process_that_does_not_answer(ports, start, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_MORE_STARTS", str(tmp_path / "broken"))
    # a machine with other work must start a process, and let it answer, in less
    monkeypatch.setenv("SILENCE", "3")
    near, far, _ = ports
    arguments = [sys.executable, "-c", RUN, str(STAND_IN), str(near), str(far)]
    parent = start(*arguments, stderr=subprocess.PIPE, text=True)
    until(lambda: get(near))
    before = until(lambda: get(far))
    time.sleep(0.2)
    (tmp_path / "broken").touch()
    parent.send_signal(signal.SIGHUP)
    message = f"port {near} does not answer"
    assert any(message in line for line in iter(parent.stderr.readline, ""))
    time.sleep(0.3)  # in which a next one would have been ended
    assert get(far) == before
    (tmp_path / "broken").unlink()
    until(lambda: get(near))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process so")
def test_processes_end_with_a_parent_that_is_killed(ports, start):
    parent = start(sys.executable, "-c", RUN, str(STAND_IN), str(ports[0]))
    until(lambda: get(ports[0]))
    parent.kill()
    until(lambda: not get(ports[0]))


@pytest.mark.slow
def test_a_process_that_never_answers_ends_them_all(ports, start):
    parent = start(sys.executable, "-c", RUN, "-c raise(SystemExit(3))", str(ports[0]))
    assert parent.wait(20) == 1


@pytest.mark.slow
def test_people_stay_with_their_server_and_get_another_when_it_dies(
    ports, start, haproxy, tmp_path
):
    listen, *behind = ports
    servers = {}
    for port in behind:
        start(sys.executable, str(STAND_IN), str(port))
        servers[until(lambda port=port: get(port))[0]] = port
    file = tmp_path / "haproxy.cfg"
    lines = [f"server app{port} 127.0.0.1:{port}" for port in behind]
    configuration = processes.balancer(f"127.0.0.1:{listen}", lines)
    file.write_text(configuration.replace("inter 2s fastinter 1s", "inter 20ms fastinter 20ms"))
    start(haproxy, "-f", str(file))
    until(lambda: get(listen))
    time.sleep(0.3)  # by now both were asked several times whether they are well
    home, cookie = get(listen)
    assert cookie.startswith("SRV=")
    assert {get(listen, cookie) for _ in range(10)} == {(home, "")}  # the cookie is not sent anew
    os.kill(home, signal.SIGKILL)
    (away,) = servers.keys() - {home}
    moved, renewed = get(listen, cookie)
    assert moved == away
    assert renewed not in {cookie, ""}
    assert get(listen, renewed) == (away, "")


def test_the_shipped_configuration_is_the_one_of_the_command_and_valid(haproxy):
    file = ROOT / "deploy/haproxy.cfg"
    resolvers = "resolvers docker\n    nameserver engine 127.0.0.11:53\n"
    made = processes.balancer("*:8501", [FOR_COMPOSE])
    assert file.read_text("utf-8") == f"{made}\n{resolvers}"
    assert subprocess.run([haproxy, "-q", "-c", "-f", str(file)], check=False).returncode == 0
