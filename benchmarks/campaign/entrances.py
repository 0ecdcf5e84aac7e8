"""python -m benchmarks campaign: hostile inputs at every entrance, and what became of them."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from benchmarks.campaign.outcome import Outcome
from transformer.cli.arguments import whole_number

ENTRANCES = {
    "text": 3_000,
    "checkpoints": 1_200,
    "configurations": 1_500,
    "commands": 3_000,
    "run_folders": 1_000,
    "folders": 1_052,
    "pages": 1_600,
    "messages": 600,
    "uploads": 200,
}
"""Each entrance, a module beside this one with `run(count, seed)`, and how many inputs it gets."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks campaign`."""
    parser = commands.add_parser("campaign", help="hostile inputs at every entrance")
    parser.add_argument(
        "--entrance", nargs="+", choices=list(ENTRANCES), default=list(ENTRANCES), metavar="NAME",
        help=f"which ones: {', '.join(ENTRANCES)}; all unless given",
    )  # fmt: skip
    parser.add_argument("--count", type=whole_number(1), help="inputs of each entrance")
    parser.add_argument("--checkpoints", type=whole_number(1), help="damaged checkpoints")
    parser.add_argument("--seed", type=whole_number(0), default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object for each input")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Try all inputs and print what became of them; the exit status is 1 if any was bad."""
    found = {name: list(_outcomes(name, options)) for name in options.entrance}
    if options.json:
        for outcomes in found.values():
            for outcome in outcomes:
                print(json.dumps(dataclasses.asdict(outcome)))
    else:
        print(table(found))
    return int(any(one.verdict == "bad" for outcomes in found.values() for one in outcomes))


def table(found: dict[str, list[Outcome]]) -> str:
    """One row for each entrance, then a line for each input that was bad."""
    lines = [
        "| entrance | tried | accepted | refused | bad | slowest | most memory |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, outcomes in found.items():
        of = Counter(outcome.verdict for outcome in outcomes)
        seconds = max((outcome.seconds for outcome in outcomes), default=0.0)
        megabytes = max((outcome.megabytes for outcome in outcomes), default=0.0)
        lines.append(
            f"| {name} | {len(outcomes):,} | {of['accepted']:,} | {of['refused']:,} "
            f"| {of['bad']:,} | {seconds:.1f} s | {megabytes:,.0f} MB |"
        )
    bad = [one for outcomes in found.values() for one in outcomes if one.verdict == "bad"]
    lines += [f"bad: {one.entrance}: {one.name}: {one.why}" for one in bad]
    return "\n".join(lines)


def _outcomes(name: str, options: argparse.Namespace) -> Iterator[Outcome]:
    count = options.count or ENTRANCES[name]
    if name == "checkpoints":
        count = options.checkpoints or count
    module = import_module(f"benchmarks.campaign.{name}")
    outcomes: Iterator[Outcome] = module.run(count, options.seed)
    return outcomes
