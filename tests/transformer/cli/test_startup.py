"""Ctrl-C in the middle of the imports of a command."""

import os
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
ENTRANCES = [
    *(["headlight", name] for name in ("app", "translate")),
    *([name] for name in ("transformer", "training.train")),
]


def test_ctrl_c_while_a_command_is_loaded_is_one_line(tmp_path):
    """In the place of torch stands a module that presses it, and swallows what that raises."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])  # of the app
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
