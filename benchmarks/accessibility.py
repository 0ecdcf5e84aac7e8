"""Serious faults that axe-core finds on every view, on every kind of screen and in every mode."""

import argparse
from typing import Any

from benchmarks.browser import chromium
from benchmarks.machine import describe, table
from tests.browser.accessibility import MODES, faults, views, visit
from tests.server import served


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks accessibility`."""
    parser = commands.add_parser("accessibility", help="axe-core on every view, in every mode")
    parser.add_argument(
        "--pages", nargs="+", metavar="PAGE", help="paths of pages; every page unless given"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Look at every view in every mode, and print what is wrong; the status is 1 if anything is."""
    counts, looked = dict.fromkeys((mode.name for mode in MODES), 0), 0
    with served() as server, chromium() as browser:
        for scale in sorted({mode.scale for mode in MODES}):
            page = browser.new_page(device_scale_factor=scale)
            for path, query in views(options.pages):
                visit(page, server.address, path, query)
                for mode in MODES:
                    if mode.scale != scale:
                        continue
                    looked += 1
                    name = " ".join([path or "translate", *query.values()])
                    for fault in faults(page, mode):
                        counts[mode.name] += 1
                        print(f"{mode.name}, {name}: {fault}", flush=True)
                    page.emulate_media(reduced_motion="null", forced_colors="null")
            page.close()
    print(f"{describe()}, {looked} views looked at")
    print(table(("mode", "serious or critical"), counts.items()))
    return int(any(counts.values()))
