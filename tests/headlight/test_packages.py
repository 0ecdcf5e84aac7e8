"""A file of somebody's that has the name of a package of ours, or of one that ours needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headlight.__main__ import COMMANDS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
OTHERS = {"streamlit.py": ["app"], "torch.py": ["translate", "average", "report"]}
"""Files that hide packages of others, and commands that need those."""


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def put(folder: Path, name: str) -> Path:
    """Write a program that tells that it was run, as a file or as the `__init__.py` of a folder."""
    path = folder / name
    file = path if path.suffix else path / "__init__.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text("open('was-run', 'w')\n")
    return path


@pytest.mark.parametrize("name", ["transformer.py", "transformer", "viz.py", "training"])
def test_a_command_names_what_hides_its_package(tmp_path, name):
    path = put(tmp_path, name)
    package = path.stem
    hidden = {
        command
        for command, (module, *_) in COMMANDS.items()
        if package == "transformer" or module.startswith((package, "headlight."))
    }
    first, *others = [*sorted(hidden), *(["--help", "nothing"] if package == "transformer" else [])]
    script = "from headlight.__main__ import main\n"
    script += f"for command in {others}: assert main([command, '--help']) == 2"
    for arguments, refused in (
        (["-m", "headlight", first, "--help"], 1),
        (["-c", script], len(others)),
    ):
        ran = run(tmp_path, *arguments)
        assert (ran.returncode, ran.stdout) == (2 if arguments[0] == "-m" else 0, "")
        assert len(ran.stderr.splitlines()) == refused
        assert all(line.startswith(f"headlight: {path} ") for line in ran.stderr.splitlines())
    assert not (tmp_path / "was-run").exists()


def test_a_package_that_is_needed_later_is_named_too(tmp_path):
    path = put(tmp_path, "training.py")  # which the schedule needs, as `site` does
    script = "from headlight.__main__ import COMMANDS, main\nassert not main(['--version'])\n"
    script += "COMMANDS['report'] = COMMANDS['report']._replace(module='viz.figures.schedule')\n"
    script += "raise SystemExit(main(['report', '--help']))"
    ran = run(tmp_path, "-c", script)
    assert (ran.returncode, ran.stderr.count("\n"), str(path) in ran.stderr) == (2, 1, True)


@pytest.mark.parametrize("name", OTHERS)
def test_the_packages_of_others_can_be_hidden(tmp_path, name):
    path = put(tmp_path, name)
    for command in OTHERS[name]:
        ran = run(tmp_path, "-m", "headlight", command, *(["--port", "8759"] * (command == "app")))
        assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
        assert ran.stderr.startswith(f"headlight: {path} ")


@pytest.mark.parametrize(
    ("name", "public"),
    [("transformer.py", "Translator"), ("viz", "explore"), ("torch.py", "align")],
)
def test_a_public_name_names_what_hides_its_package(tmp_path, name, public):
    path = put(tmp_path, name)
    script = f"import headlight\ntry: headlight.{public}\nexcept ImportError as e: print(e, end='')"
    ran = run(tmp_path, "-c", script)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"{path} ")
    assert (tmp_path / "was-run").exists() == (name == "torch.py")


def test_a_folder_without_a_package_hides_nothing(tmp_path):
    (tmp_path / "transformer").mkdir()
    ran = run(tmp_path, "-c", "import headlight; print(headlight.KINDS[0])")
    assert (ran.stdout, ran.stderr) == ("encoder_self\n", "")
