"""An installation without extras: only what it declares is on its path."""

import json
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = {
    "app": {"app", "site", "lessons"},
    "train": {"download", "prepare", "train", "average", "evaluate"},
}
HELP = """
import contextlib, io, json
from headlight.__main__ import COMMANDS, main
results = {}
for name in COMMANDS:
    with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(None):
        try:
            status = main([name, "--help"])
        except SystemExit as ended:
            status = ended.code
    results[name] = status, errors.getvalue()
print(json.dumps(results))
"""
PAGES = """
import importlib, pkgutil, viz.pages
for module in pkgutil.walk_packages(viz.pages.__path__, "viz.pages."):
    importlib.import_module(module.name)
"""
LIBRARY = """
import headlight as h
t = h.Translator.load()
trace = t.trace("A dog.")
h.align(t, trace)
print(len(trace.to_frame()), len(h.report(trace)) > 50_000)
try:
    h.explore
except ImportError as error:
    print(error)
"""
ENDS = ("out", "err")  # of the files that hold what a copy prints

COPIES = """
import json, os, traceback
import pandas, safetensors.torch, sentencepiece, torch
statuses = []
for place, program in json.load(sys.stdin):
    if not os.fork():
        status = 1
        for number, end in enumerate(("out", "err"), 1):
            os.dup2(os.open(f"{place}.{end}", os.O_WRONLY | os.O_CREAT), number)
        try:
            sys.path.append(place)
            exec(program, {"__name__": "__main__"})
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(status)
    statuses.append(os.waitstatus_to_exitcode(os.wait()[1]))
print(json.dumps(statuses))
"""
"""Program that runs others in copies of itself: what every installation has is imported once."""

WORKS = {"": LIBRARY, "app": PAGES, "train": ""}
"""Programs that run with the extra, or with none, and nothing else installed."""


def installed(folder: Path, extra: str = "") -> Path:
    """Link the distributions that the project requires, and all that these require."""
    folder.mkdir()
    wanted = PROJECT["dependencies"] + PROJECT["optional-dependencies"].get(extra, [])
    todo, seen = [Requirement(line) for line in wanted], set()
    while todo:
        requirement = todo.pop()
        name = requirement.name.lower()
        if name in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        seen.add(name)
        distribution = metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(str(distribution.locate_file(top)))
        todo += [Requirement(line) for line in distribution.requires or ()]
    assert (folder / "streamlit").exists() == (extra == "app")
    return folder


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    """Status, output and errors of each program, in copies of one process with what all need."""
    folder = tmp_path_factory.mktemp("extras")
    programs = [(str(installed(folder / (e or "none"), e)), HELP + WORKS[e]) for e in WORKS]
    script = f"import sys; sys.path += [{str(ROOT)!r}, {programs[0][0]!r}]\n{COPIES}"
    command = [sys.executable, "-I", "-S", "-c", script]
    given = json.dumps(programs)
    copies = subprocess.run(command, input=given, capture_output=True, text=True, cwd=folder)
    assert copies.stderr == ""
    statuses = json.loads(copies.stdout)
    texts = [[Path(f"{place}.{end}").read_text("utf-8") for end in ENDS] for place, _ in programs]
    return {e: (status, *text) for e, status, text in zip(WORKS, statuses, texts, strict=True)}


@pytest.mark.parametrize("extra", WORKS)
def test_a_command_names_the_extra_that_it_needs_and_the_rest_works(ran, extra):
    status, output, errors = ran[extra]
    assert (status, errors) == (0, "")
    statuses, *printed = output.splitlines()
    for name, (status, errors) in json.loads(statuses).items():
        missing = {other for other, names in EXTRAS.items() if name in names} - {extra}
        assert (status, errors.count("\n")) == ((2, 1) if missing else (0, 0))
        assert all(f"'headlight-attention[{other}]'" in errors for other in missing)
    if not extra:
        made, refused = printed
        assert made.endswith(" True")
        assert "'headlight-attention[notebook]'" in refused
