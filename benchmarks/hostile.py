"""Hostile inputs at every entrance, and how many were accepted, refused, or broke something."""

import argparse
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import machine
from tests import server

ENTRANCES = {
    "test_addresses": "every parameter of every page",
    "test_checkpoints": "damaged checkpoints",
    "test_commands": "commands and their arguments",
    "test_configurations": "training configurations",
    "test_finding_links": "the links of every finding, on odd sentences",
    "test_folders": "folders of text and models",
    "test_result_files": "result files of the Corpus page",
    "test_lessons": "lesson files, and answers to them",
    "test_run_folders": "run folders, through the Training page",
    "test_server": "forged messages and bodies, to a running server",
    "test_text": "text, through the library and standard input",
}


class Counts:
    """Plugin of pytest that counts, by the module of the test, what became of each input."""

    def __init__(self) -> None:
        self.inputs: dict[str, Counter[str]] = {}
        self.tests: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self._module = ""

    def counting(self, event: Callable[..., None]) -> Callable[..., None]:
        """Return hypothesis's `event`, which counts too."""

        def count(value: str, payload: str | int | float = "") -> None:
            self.inputs.setdefault(self._module, Counter())[value] += 1
            event(value, payload)

        return count

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note the module of the test that begins."""
        self._module = Path(nodeid.partition("::")[0]).stem
        self.tests[self._module] += 1

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count its seconds and its failure."""
        self.seconds[self._module] += report.duration
        self.failures[self._module] += report.failed


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks hostile`."""
    parser = commands.add_parser("hostile", help="thousands of hostile inputs at every entrance")
    parser.add_argument("--quick", action="store_true", help="the few that `make test` tries")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Try them, and print what became of them; the status is 1 if a test failed."""
    import hypothesis  # extras of the tests
    import pytest

    counts = Counts()
    hypothesis.event = counts.counting(hypothesis.event)  # before a test imports it
    os.chdir(server.ROOT)
    arguments = ["tests/fuzz", "-q", "-p", "no:cacheprovider", "--timeout=0"]
    if not options.quick:
        arguments.append("--hypothesis-profile=long")
    status = pytest.main(arguments, [counts])
    rows = []
    for module, entrance in ENTRANCES.items():
        inputs = counts.inputs.get(module, Counter())
        tried, tests = (
            (f"{inputs[name]:,}" for name in ("accepted", "refused")),
            counts.tests[module],
        )
        failures, seconds = counts.failures[module], counts.seconds[module]
        rows.append((entrance, *tried, tests, failures, f"{seconds:.0f} s"))
    print(machine.describe())
    print(machine.table(("entrance", "accepted", "refused", "tests", "failed", "time"), rows))
    return int(status != pytest.ExitCode.OK)
