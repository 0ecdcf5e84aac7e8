import os

import pytest

from headlight import serve
from transformer.files.installed import FILES


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
    here, everywhere, single = capsys.readouterr().out.splitlines()
    assert "this machine alone" in here
    assert "every interface" in everywhere
    assert "127.0.0.1 alone" in single


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
