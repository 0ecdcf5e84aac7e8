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


def run(packages: Path, script: str) -> "subprocess.CompletedProcess[str]":
    script = f"import sys; sys.path += [{str(ROOT)!r}, {str(packages)!r}]\n{script}"
    command = [sys.executable, "-I", "-S", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, cwd=packages.parent)


@pytest.mark.parametrize("extra", WORKS)
def test_a_command_names_the_extra_that_it_needs_and_the_rest_works(tmp_path, extra):
    ran = run(installed(tmp_path / "packages", extra), HELP + WORKS[extra])
    assert (ran.returncode, ran.stderr) == (0, "")
    statuses, *printed = ran.stdout.splitlines()
    for name, (status, errors) in json.loads(statuses).items():
        missing = {other for other, names in EXTRAS.items() if name in names} - {extra}
        assert (status, errors.count("\n")) == ((2, 1) if missing else (0, 0))
        assert all(f"'headlight-attention[{other}]'" in errors for other in missing)
    if not extra:
        made, refused = printed
        assert made.endswith(" True")
        assert "'headlight-attention[notebook]'" in refused
