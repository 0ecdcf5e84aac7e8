"""Does constraints.txt pin whatever the project and all its extras pull in? Asks pip, by network.

What it misses, pip chooses anew on every machine, and may search for hours until the choice fits.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PATIENCE = 900  # seconds; with everything pinned, pip has nothing to search for


def main() -> int:
    """Name every distribution without a pin; the exit status is 1 if there is one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = ",".join(project["optional-dependencies"])
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    report = ["--report", "-", "-c", "constraints.txt", f".[{extras}]"]
    try:
        ran = subprocess.run(
            [*command, *report], cwd=ROOT, stdout=subprocess.PIPE, timeout=PATIENCE, check=True
        )
    except subprocess.TimeoutExpired:
        print(f"constraints.txt: pip found no set for [{extras}] in {PATIENCE} s.", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError:  # pip has said why
        print(f"constraints.txt: pip finds no set for [{extras}].", file=sys.stderr)
        return 1
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    names = missing([item["metadata"] for item in json.loads(ran.stdout)["install"]], lines)
    if names:
        print(f"constraints.txt has no pin for {', '.join(names)}: add them.", file=sys.stderr)
    return 1 if names else 0


def missing(installed: list[dict], constraints: list[str]) -> list[str]:
    """Return the installed distributions that no constraint pins.

    A distribution that another one requires in an exact version, as torch does with the parts of
    CUDA, needs no pin of ours.
    """
    asked = [
        Requirement(line)
        for distribution in installed
        for line in distribution.get("requires_dist", [])
    ]
    pins = [Requirement(line) for line in constraints]
    pinned = {
        canonicalize_name(requirement.name)
        for requirement in (*asked, *pins)
        if any(part.operator == "==" and "*" not in part.version for part in requirement.specifier)
    }
    names = {canonicalize_name(distribution["name"]) for distribution in installed}
    return sorted(names - pinned - {"headlight-attention"})


if __name__ == "__main__":
    sys.exit(main())
