"""Ctrl-C in the middle of the imports of a command, and a user without a home folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit import free_port

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
ENTRANCES = [
    *(["headlight", name] for name in ("app", "translate", "train")),
    ["transformer"],
]


def test_ctrl_c_while_a_command_is_loaded_is_one_line(tmp_path):
    """In the place of torch stands a module that presses it, and swallows what that raises."""
    port = str(free_port())  # of the app
    (tmp_path / "torch.py").write_text(
        "import os, signal\n"
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n    sum(range(9))\n"
        "except KeyboardInterrupt:\n    pass\n"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=ROOT, env=os.environ | {"PYTHONPATH": str(tmp_path), "PORT": port},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for words in ENTRANCES
    ]  # fmt: skip
    ended = [(process.communicate(timeout=60)[1], process.returncode) for process in started]
    assert ended == [("headlight: stopped.\n", 130)] * len(ENTRANCES)


NOBODY = """
import os, pathlib, pwd, sys
def getpwuid(number): raise KeyError(number)
pwd.getpwuid = getpwuid  # as for a user without an entry
class Finder:  # what loads one of these asks for a home, as they do
    def find_spec(self, name, *_):
        if name in ("altair", "streamlit.web.cli"):
            pathlib.Path.home()
            raise SystemExit(name)
sys.meta_path.insert(0, Finder())
from headlight.serve import main
for load in (lambda: __import__("viz.figures.forms"), lambda: main(["--port", "8759"])):
    os.environ.pop("HOME", None)
    try: load()
    except SystemExit as end: print(end)
"""


def test_a_user_without_a_home_folder_has_pictures_and_the_app(tmp_path):
    command = [sys.executable, "-c", NOBODY]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.stderr == ""
    assert ran.stdout.splitlines()[::2] == ["altair", "streamlit.web.cli"]
