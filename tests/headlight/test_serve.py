import os
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headlight import processes, serve
from transformer.files.installed import FILES
from viz.app import served


@pytest.fixture
def streamlit_arguments(monkeypatch):
    """Record the arguments that Streamlit's own command is called with."""
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
    # one address is printed: Streamlit's own greeting named localhost for every interface
    here = ["--server.address=127.0.0.1", "--logger.hideWelcomeMessage=true"]
    assert streamlit_arguments == [
        [*run, "--server.port=8501", *here],
        [*run, "--server.port=8600", *here],
        [*run, "--server.port=8700", *here, "--theme.base=dark"],
    ]


def test_the_address_is_the_option_or_the_variable(streamlit_arguments, monkeypatch, capsys):
    serve.main([])
    serve.main(["--host", "127.0.0.2"])
    monkeypatch.setenv("HEADLIGHT_HOST", "0.0.0.0")
    serve.main([])
    given = [{word for word in words if "ddress" in word} for words in streamlit_arguments]
    assert given == [
        {"--server.address=127.0.0.1"},
        {"--server.address=127.0.0.2", "--browser.serverAddress=127.0.0.2"},
        {"--server.address=0.0.0.0"},
    ]
    here, single, everywhere = capsys.readouterr().out.splitlines()
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "/some/where/")
    serve.main(["--host", "127.0.0.1"])
    assert "http://localhost:8501/some/where " in capsys.readouterr().out
    serve.main(["--host", "127.0.0.1", "--server.baseUrlPath", "/headlight"])
    assert "http://localhost:8501/headlight " in capsys.readouterr().out
    assert "http://localhost:8501" in here
    assert "--host 0.0.0.0" in here
    assert "http://127.0.0.2:8501" in single
    assert "http://" in everywhere
    assert "localhost" not in everywhere


def test_a_port_that_is_taken_is_refused(capsys, streamlit_arguments):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert serve.main(["--port", str(port)]) == 2
        assert serve.main(["--port", str(port - 1), "--processes", "2"]) == 2
    assert serve.main(["--port", "65535", "--processes", "2"]) == 2
    sentences = capsys.readouterr().err.splitlines()
    assert [f"port {number} " in line for number, line in zip(
        (port, port, 65_536), sentences, strict=True
    )] == [True] * 3  # fmt: skip
    assert not streamlit_arguments


@pytest.mark.parametrize(
    ("variable", "value", "range_"),
    [
        ("HEADLIGHT_PROCESSES", "65", "1 to 64"),
        ("PORT", "0", "1 to 65,535"),
        ("PORT", "", "1 to 65,535"),
    ],
)
def test_a_number_outside_its_range_is_refused(variable, value, range_, capsys, monkeypatch):
    monkeypatch.setenv(variable, value)
    with pytest.raises(SystemExit) as left:
        serve.main([])
    assert left.value.code == 2
    assert f"'{value}' must be a whole number from {range_}" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["", "no such host", "192.0.2.1"])
def test_an_address_that_this_machine_does_not_have_is_refused(host, capsys, streamlit_arguments):
    with pytest.raises(SystemExit) as left:
        serve.main(["--host", host])
    assert left.value.code == 2
    assert "argument --host: " in capsys.readouterr().err.splitlines()[-1]


def test_processes_listen_behind_a_balancer_that_has_the_address(capsys, monkeypatch):
    started = []

    async def run(servers):
        started.extend(servers)
        (path,) = re.findall(r"haproxy -f (\S+)", capsys.readouterr().out)
        started.append(Path(path).read_text("utf-8"))
        return 0

    monkeypatch.setattr(processes, "run", run)
    monkeypatch.setenv("OMP_NUM_THREADS", "")  # what is set below must not outlast the test
    monkeypatch.delenv("OMP_NUM_THREADS")
    words = ["--processes=2", "--port=8600", "--host=0.0.0.0", "--theme.base=dark"]
    with ThreadPoolExecutor(1) as thread:  # without the event loop of a browser test
        assert thread.submit(serve.main, words).result() == 0
    near, far, configuration = started
    assert [near.port, far.port] == [8601, 8602]
    assert {"--host=127.0.0.1", "--processes=1", "--port=8601", "--theme.base=dark"} < {
        *near.arguments
    }
    assert "bind 0.0.0.0:8600\n" in configuration
    assert re.findall(r"server app\d+ (\S+)", configuration) == ["127.0.0.1:8601", "127.0.0.1:8602"]
    assert os.environ["OMP_NUM_THREADS"] == str(max(1, len(os.sched_getaffinity(0)) // 2))


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
    assert "argument --models: 'none' is not a folder" in capsys.readouterr().err


def test_a_setting_that_the_app_refuses_is_a_sentence(capsys, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_FRAME_ANCESTORS", "not;a;site")
    monkeypatch.setattr("streamlit.web.cli.main", lambda *_, **__: served.middleware())
    assert serve.main([]) == 2
    assert capsys.readouterr().err.startswith("headlight app: HEADLIGHT_FRAME_ANCESTORS has ")


def test_the_end_of_the_server_waits_for_no_thread(monkeypatch):
    """Threads that still load a model delay the end of Python by seconds, or abort it."""

    def click(*_, **__):
        raise SystemExit(0)

    ended: list[int] = []
    monkeypatch.setattr("streamlit.web.cli.main", click)
    monkeypatch.setattr("os._exit", ended.append)
    serve.main(["--port", "8689"])
    assert ended == [0]
