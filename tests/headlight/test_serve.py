import os
import socket
from pathlib import Path

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks import campaign
from benchmarks.server import ForgedSession, headlight_app
from headlight import serve
from transformer.files.installed import FILES


@pytest.fixture
def streamlit_arguments(monkeypatch):
    """What Streamlit's own command is called with."""
    given: list[list[str]] = []
    monkeypatch.setattr("streamlit.web.cli.main", lambda arguments, **_: given.append(arguments))
    return given


def test_the_port_is_the_option_or_the_variable(streamlit_arguments, monkeypatch):
    monkeypatch.delenv("PORT", raising=False)
    serve.main([])
    monkeypatch.setenv("PORT", "8600")
    serve.main([])
    serve.main(["--port", "8700", "--theme.base=dark"])
    run = ["run", str(FILES / "app.py")]
    here = ["--server.address=localhost", "--browser.serverAddress=localhost"]
    assert streamlit_arguments == [
        [*run, "--server.port=8501", *here],
        [*run, "--server.port=8600", *here],
        [*run, "--server.port=8700", *here, "--theme.base=dark"],
    ]


def test_the_console_names_who_can_reach_the_server(streamlit_arguments, capsys):
    serve.main([])
    serve.main(["--host", "0.0.0.0"])
    serve.main(["--host", "127.0.0.1"])
    assert ["--server.address=0.0.0.0" in given for given in streamlit_arguments] == [0, 1, 0]
    here, everywhere, one = capsys.readouterr().out.splitlines()
    assert "this machine alone" in here
    assert "every interface" in everywhere
    assert "127.0.0.1 alone" in one


@pytest.mark.parametrize("host", ["", "no such host", "192.0.2.1", "unix://x", "::zz"])
def test_an_address_that_this_machine_does_not_have_is_refused(host, capsys, streamlit_arguments):
    with pytest.raises(SystemExit) as left:
        serve.main(["--host", host])
    assert left.value.code == 2
    assert "argument --host: " in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("port", ["0", "65536", "-1", "eight", ""])
def test_a_port_that_is_none_is_refused(port, capsys, monkeypatch):
    monkeypatch.setenv("PORT", port)
    with pytest.raises(SystemExit) as left:
        serve.main([])
    assert left.value.code == 2
    assert f"'{port}' must be a whole number from 1 to 65,535" in capsys.readouterr().err


def test_the_folder_of_models_is_the_option_or_the_variable(
    streamlit_arguments, monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("HEADLIGHT_MODELS", "as it was")
    serve.main([])
    assert os.environ["HEADLIGHT_MODELS"] == "as it was"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    serve.main(["--models", "models", "--theme.base=dark"])
    assert os.environ["HEADLIGHT_MODELS"] == str(tmp_path / "models")
    assert streamlit_arguments[-1][-1] == "--theme.base=dark"
    for folder in ("none", "", "a" * 5_000):
        with pytest.raises(SystemExit) as left:
            serve.main(["--models", folder])
        assert left.value.code == 2
    assert "argument --models: 'none' is no folder" in capsys.readouterr().err


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The app as `headlight app` serves it."""
    log = tmp_path_factory.mktemp("server") / "log"
    with headlight_app(log, "--logger.enableRich=false") as running:
        yield running


def listening(port: int) -> set[str]:
    """The addresses at which something listens on a port, by the tables of Linux."""
    addresses = set()
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        path = Path("/proc/net") / table
        rows = path.read_text("ascii").splitlines()[1:] if path.exists() else []
        for _, local, _, state, *_ in map(str.split, rows):
            address, at = local.split(":")
            if state == "0A" and int(at, 16) == port:
                words = [bytes.fromhex(address[n : n + 8])[::-1] for n in range(0, len(address), 8)]
                addresses.add(socket.inet_ntop(family, b"".join(words)))
    return addresses


@pytest.mark.timeout(120)
def test_the_app_listens_on_this_machine_alone(server):
    assert {"127.0.0.1"} <= listening(server.port) <= {"127.0.0.1", "::1"}
    assert "this machine alone" in server.log.read_text("utf-8")


@pytest.mark.timeout(120)
def test_a_file_that_is_sent_is_refused_and_takes_no_memory(server):
    with ForgedSession(server) as session:
        session.run()
        before = server.megabytes()
        path = f"/_stcore/upload_file/{session.id}/1"
        assert [campaign.send(server, "PUT", path, 50_000_000) for _ in range(4)] == [405] * 4
        assert server.megabytes() - before < 20


@pytest.mark.timeout(120)
def test_forged_messages_raise_nowhere_in_our_code(server):
    with ForgedSession(server) as session:
        opened = session.run("heads")
        (grid,) = (one for one in opened.widgets if one.endswith("-grid"))
        (text,) = (one for one in opened.widgets if one.endswith("-text"))
        for state in (
            campaign.trigger(grid, {"event": "picked", "value": ["cross", 0, 0]}),
            WidgetState(id=text),
            WidgetState(id=text, bytes_value=b"a"),
        ):
            session.run("heads", "", [state])
    with ForgedSession(server) as other:  # nobody else is touched
        assert other.run("heads").exceptions == []
    assert campaign.own_error(server.log.read_text("utf-8")) == ""
