"""constraints.txt against what is installed here; `.ci/constraints.py` asks pip about the rest."""

import runpy
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PINS = {
    canonicalize_name(pin.name): pin.specifier
    for pin in map(Requirement, (ROOT / "constraints.txt").read_text("utf-8").splitlines())
}
missing = runpy.run_path(str(ROOT / ".ci" / "constraints.py"))["missing"]


def asked_for() -> list[Requirement]:
    """Return what the project and each of its extras ask for, but for each other."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [project["dependencies"], *project["optional-dependencies"].values()]
    return [
        requirement
        for requirement in map(Requirement, chain(*lines))
        if requirement.name != project["name"]
    ]


def test_every_pin_is_in_the_range_that_the_project_asks_for():
    for requirement in asked_for():
        (pin,) = PINS[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(pin.version), f"{requirement} and {pin}"


def test_whatever_the_extras_bring_along_is_pinned():
    todo = [
        (canonicalize_name(requirement.name), frozenset(requirement.extras))
        for requirement in asked_for()
    ]
    seen = set(todo)
    for name, extras in todo:  # grows while it is walked
        try:
            lines = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # of an extra that is not installed
        for requirement in map(Requirement, lines):
            wanted = requirement.marker is None or any(
                requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)
            )
            entry = canonicalize_name(requirement.name), frozenset(requirement.extras)
            if wanted and entry not in seen:
                seen.add(entry)
                todo.append(entry)
    named = [
        {"name": name, "requires_dist": metadata.requires(name) or []}
        for name in {name for name, _ in seen}
        if installed(name)
    ]
    assert len(named) > 60
    assert missing(named, [f"{name}{pin}" for name, pin in PINS.items()]) == []


def installed(name: str) -> bool:
    return any(metadata.distributions(name=name))
