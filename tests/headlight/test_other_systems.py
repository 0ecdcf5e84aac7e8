"""The commands on Windows, as far as a stand-in shows it."""

import errno
import importlib
import io
import os
import pkgutil
import signal
import stat
import sys
from pathlib import Path

import pytest

from tests.forkserver import forkserver
from tests.viz.trained_model import trained_folder

__all__ = ["trained_folder"]  # a fixture: used by name

OURS = ["transformer", "training", "viz", "headlight"]
MISSING = ["fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty", "uvloop"]
FUNCTIONS = ["fork", "getuid", "geteuid", "getpgid", "killpg", "setsid", "sched_getaffinity"]
FLAGS = ["O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK"]
SIGNALS = ["SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1"]


def become_windows():
    """Take away what Windows does not have, once all libraries are imported."""
    import fcntl

    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    vars(sys)["modules"].update(dict.fromkeys(MISSING))
    for owner, names in ((os, FUNCTIONS + FLAGS), (signal, SIGNALS)):
        for name in names:
            delattr(owner, name)
    sys.platform = "win32"
    opens, syncs = os.open, os.fsync

    def open_file(path, *rest, **options):
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opens(path, *rest, **options)

    def sync(descriptor):
        assert stat.S_ISREG(os.fstat(descriptor).st_mode)
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        syncs(descriptor)

    os.open, os.fsync = open_file, sync


def try_everything(folder, model, results):
    """Import every module and run the commands, with a console of code page 1252."""
    become_windows()
    for name in OURS:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(module.name)
    main = importlib.import_module("headlight.__main__").main
    sessions = importlib.import_module("viz.app.sessions")
    vars(sys.modules["streamlit.web.cli"])["main"] = lambda *_, **__: None
    statuses = {"descriptors": sessions.most_descriptors()}
    given = ["--checkpoint", str(model)]
    for name, arguments in {
        "help": ["app", "--help"],
        "translate": ["translate", "The 犬.", "--score", "--target", "Der Hund.", *given],
        "report": ["report", "The dog → 犬.", "-o", str(folder / "ü 犬.html"), *given],
        "average": ["average", str(model), str(model), "--out", str(folder / "out")],
        "processes": ["app", "--processes", "2"],
        "app": ["app", "--port", "8813"],
    }.items():
        sys.stdout = io.TextIOWrapper((folder / name).open("wb"), encoding="cp1252")
        try:
            statuses[name] = main(arguments)
        except SystemExit as ended:
            statuses[name] = ended.code
        sys.stdout.close()
    results.send(statuses)


@pytest.mark.slow
def test_every_module_loads_and_the_commands_run_as_on_windows(tmp_path, trained_folder):
    context = forkserver()
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=try_everything, args=(tmp_path, trained_folder, sender))
    process.start()
    sender.close()
    try:
        statuses = receiver.recv()
    except EOFError:
        pytest.fail("it ended with a traceback")
    process.join()
    assert statuses == {
        "descriptors": 16_000,
        "help": 0,
        "translate": 0,
        "report": 0,
        "average": 0,
        "processes": 2,
        "app": 0,
    }
    assert "▁" in (tmp_path / "translate").read_text("utf-8")
    assert "犬" in (tmp_path / "ü 犬.html").read_text("utf-8")
    assert (tmp_path / "out/config.json").is_file()
    assert (tmp_path / "app").read_text("cp1252").startswith("Open http://localhost:8813 ")
