"""Hostile arguments of every command: one sentence and status 2, and nothing left behind."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from headlight.__main__ import main
from tests.fuzz.bounds import IS_LONG, bounded_memory, examples, put_special, run_main
from tests.fuzz.commands import ARGUMENTS, SENTENCE, WRITING, _commands_run_here, actions, pristine
from transformer.files.installed import FILES

pytestmark = pytest.mark.slow

__all__ = ["_commands_run_here", "pristine"]  # fixtures, used by name
VALUES = [
    *"0 -1 1.5 nan inf -inf 1e308 1e999 x ² 0x10 1_0 65 1000000001 -- -".split(),
    *"/dev/zero /dev/null binary binary-log text text/below no/such/folder run".split(),
    *"loop . ~nosuchuser /proc/self/mem /proc nul-filled missing folder pipe".split(),
    *"<script> </s> 😀 <s> -x".split(),
    *"http:// https://[::1 http://host:99999 http://host:abc ftp://x http://.. http://a..b".split(),
    *"http://user:pw@ http://[zz] http://%00 http://host#x http://host?x http://* file:///".split(),
    *"HTTP://x http:///path http://127.0.0.1:1 </title><script>alert(1)</script>".split(),
    *(
        "",
        " ",
        "9" * 30,
        "9" * 5_000,
        "-" + "9" * 5_000,
        "\udcff",
        "x" * 10_000,
        "x" * 300,
        "d:" + "9" * 300,
    ),
    *("\udcff\udcfe", "\u202e", "a\nb", "\x1b[31m", "ein " * 2_000, "dog " * 9_000),
    *("12 GB", "http://exa mple", "http://" + "a" * 300, "http://\udcff", "https://ex\nample"),
    "http://\u2028",
]
SHORT = ["app", "download", "translate"]
"""Commands that take some milliseconds."""

OPTIONS = {
    command: sorted(
        option
        for words, action in actions()
        if words == command
        for option in action.option_strings
    )
    for command in ARGUMENTS
}
SCRIPTS = [
    "$H app --port 99999",
    "$H translate --checkpoint model <&-",
    "$H translate --checkpoint model < binary",
    f"$H translate --checkpoint model '{SENTENCE}' > /dev/full",
    "LC_ALL=C PYTHONCOERCECLOCALE=0 PYTHONUTF8=0 $H translate --checkpoint model < data/train.de",
    "$H translate --checkpoint model $'\\xff\\xfe'",
    "$H translate --checkpoint $'\\xff\\xfe' x",
    f"$H report --checkpoint model '{SENTENCE}' -o /dev/full",
    "$H evaluate bleu --checkpoint model --src data/valid.en --ref data/valid.de > /dev/full",
    "$H average run --out $'a\\xff'",
    "$H train --config run.toml --data data --out out --steps 2 > /dev/full",
    "$H translate --checkpoint model --beam 1 < data/train.en | head -n 1",
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "here"


def _copy(pristine: Path, here: Path) -> set[str]:
    """Copy the folder, and make beside it what cannot be copied; list all paths."""
    os.chdir(here.parent)
    shutil.rmtree(here, ignore_errors=True)
    shutil.copytree(pristine, here)
    for kind in ("pipe", "loop", "12 GB"):
        put_special(here / kind, kind)
    with (here / "nul-filled").open("wb") as file:
        file.truncate(10**7)
    os.chdir(here)
    return _paths(here)


def _paths(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*")}


def _check(status: object, out: str, err: str, left: set[str]) -> None:
    assert "Traceback" not in out + err
    if status != 0:
        sentence = err.rstrip("\n").rpartition("\n")[2].rpartition("\r")[2]
        assert status == 2, err
        assert sentence.isprintable()
        assert 0 < len(sentence) < 1_500
        assert left == set(), sentence


@examples(15, 3_000)
@given(
    command=st.sampled_from([*ARGUMENTS] if IS_LONG else SHORT),
    first=st.none() | st.sampled_from(VALUES),
    is_sound=st.booleans(),
    data=st.data(),
)
@pytest.mark.usefixtures("_commands_run_here")
def test_hostile_arguments_are_one_sentence(pristine, here, command, first, is_sound, data):
    before = _copy(pristine, here)
    output = ["--out", "out"] if command in WRITING else []
    arguments = [*ARGUMENTS[command], *output] if is_sound else []
    if first is not None:
        arguments[:1] = [first]
    pair = st.tuples(st.sampled_from(OPTIONS[command]), st.sampled_from(VALUES))
    for option, value in data.draw(st.lists(pair, max_size=2)):
        arguments += data.draw(st.sampled_from([[option, value], [f"{option}={value}"]]))
    with bounded_memory():
        status, out, err = run_main(main, [*command.split(), *arguments], SENTENCE.encode())
    event("accepted" if status == 0 else "refused")
    _check(status, out, err, _paths(here) - before)


@pytest.mark.parametrize("script", SCRIPTS if IS_LONG else SCRIPTS[:1])
def test_a_process_ends_with_one_sentence(pristine: Path, here: Path, script: str) -> None:
    before = _copy(pristine, here)
    process = subprocess.run(
        ["bash", "-c", script.replace("$H", f"{sys.executable} -m headlight")],
        env=os.environ | {"PYTHONPATH": str(FILES)},
        capture_output=True,
        timeout=90,
        check=False,
    )
    out, err = (text.decode("utf-8", "replace") for text in (process.stdout, process.stderr))
    # a run that had begun leaves its folder
    left = set() if "train " in script else _paths(here) - before
    _check(process.returncode, out, err.replace("\ufffd", "?"), left)


def test_every_command_is_tried() -> None:
    assert OPTIONS.keys() == {command for command, action in actions() if action.dest != "help"}
