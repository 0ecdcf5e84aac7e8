import importlib
import io
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import headlight
from headlight.__main__ import COMMANDS, main
from tests.fuzz.commands import ARGUMENTS

ROOT = Path(__file__).parents[2]


def test_help_lists_every_command_and_loads_none():
    script = (
        "import sys; from headlight.__main__ import main; status = main(['--help']); "
        "print(sorted({'torch', 'streamlit', 'viz'} & set(sys.modules))); "
        "sys.exit(status)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    *listed, loaded = ran.stdout.splitlines()
    assert loaded == "[]"
    for name, entry in COMMANDS.items():
        assert any(re.fullmatch(rf"  {name} +{re.escape(entry.summary)}", line) for line in listed)
    assert max(map(len, listed)) < 80


@pytest.mark.parametrize("encoding", ["ascii", "cp437"])
def test_help_and_errors_in_the_letters_of_any_console(encoding, monkeypatch, capsys):
    for words in (*ARGUMENTS, ""):
        for last in ("--help", *(["--nö=½"] if words not in ("", "app") else [])):
            out = io.TextIOWrapper(io.BytesIO(), encoding)
            err = io.TextIOWrapper(io.BytesIO(), encoding, errors="backslashreplace")
            monkeypatch.setattr("sys.stdout", out)
            monkeypatch.setattr("sys.stderr", err)  # which Python makes so
            status = run_main([*words.split(), last])
            assert (status, err.tell() > 0) == ((0, False) if last == "--help" else (2, True))
            out.flush()
            text = out.buffer.getvalue().decode(encoding)
            assert ("usage: " in text) == (last == "--help")
            if words == "translate" and last == "--help":
                assert ("α of" if encoding == "cp437" else "\\u03b1 of") in text


@pytest.mark.parametrize("words", ["", "translate"])
def test_help_that_cannot_be_written_is_a_sentence(words, monkeypatch, capsys):
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert run_main([*words.split(), "--help"]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert errors.endswith("Standard output cannot be written: No space left on device.\n")
    monkeypatch.setattr("sys.stdout", None)
    assert run_main([*words.split(), "--help"]) == 0
    assert capsys.readouterr().err == ""


def run_main(arguments):
    try:
        return main(arguments)
    except SystemExit as left:
        return left.code


@pytest.mark.parametrize("name", COMMANDS)
def test_an_error_is_signed_with_the_command_however_it_was_started(name, capsys):
    wrong = ["--port", "x"] if name == "app" else ["--no-such-option"]
    module = importlib.import_module(COMMANDS[name].module)
    for start, words in ((main, [name, *wrong]), (module.main, wrong)):
        with pytest.raises(SystemExit):
            start(words)
        usage, *_, last = capsys.readouterr().err.splitlines()
        assert usage.startswith(f"usage: headlight {name}")
        assert last.startswith(f"headlight {name}: error: ")


def test_the_exit_status_is_the_command_s(capsys, checkpoint_folder, tmp_path, monkeypatch):
    assert main(["translate", "--checkpoint", str(checkpoint_folder), "The dog sleeps."]) == 0
    assert capsys.readouterr().out.strip()
    assert main(["translate", "--checkpoint", str(tmp_path), "The dog sleeps."]) == 2
    assert capsys.readouterr().err.startswith("headlight translate: ")
    monkeypatch.setattr("sys.stdin", None)
    assert main(["translate", "--checkpoint", str(checkpoint_folder)]) == 2
    assert "Standard input is closed" in capsys.readouterr().err


def test_a_command_that_is_none_is_one_sentence(capsys):
    assert main(["trian", "--help"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    names = ", ".join(COMMANDS)
    assert output.err == f"headlight: there is no command 'trian': choose one of {names}.\n"


def test_the_version_and_the_script_are_the_package_s(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"headlight {headlight.__version__}\n"
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## \[(\d.*)\]", changes, re.MULTILINE)[0] == headlight.__version__
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == headlight.__version__
    assert citation["cff-version"] == "1.2.0"
    assert f"version = {{{headlight.__version__}}}" in (ROOT / "README.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["scripts"] == {"headlight": "headlight.__main__:main"}
