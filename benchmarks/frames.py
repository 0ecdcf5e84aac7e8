"""Pictures that move: seconds from the first paint to the first word, and times of their frames."""

import argparse
import itertools
import re
import statistics
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from benchmarks.browser import chromium
from benchmarks.machine import describe, table
from tests.server import served
from transformer.cli.arguments import whole_number
from viz.app.sentence.source_box import EXAMPLES

if TYPE_CHECKING:
    from playwright.sync_api import Page

TEXT = EXAMPLES["English"][-1]
"""A sentence whose translation has some twenty words."""
PLAYED = 8000  # milliseconds of playing that are measured: 20 subwords take nine seconds
SIZES = ((1280, 720), (390, 844))

# all frames with their times, and the time of the first sentence of the player
WATCH = """
window.frameTimes = [];
const find = (root) => root.querySelector(".hl-player-says") ?? [...root.querySelectorAll("*")]
    .flatMap((element) => element.shadowRoot ? [find(element.shadowRoot)] : []).find(Boolean);
const look = () => {
    const element = find(document);
    if (element?.textContent) window.firstWord = performance.now();
    else setTimeout(look, 20);
};
look();
const count = (now) => { window.frameTimes.push(now); requestAnimationFrame(count); };
requestAnimationFrame(count);
"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks frames`."""
    parser = commands.add_parser("frames", help="frames of the pictures that move, in Chromium")
    parser.add_argument("--rounds", type=whole_number(1), default=3, help="of each page and width")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    rows = []
    with served() as server, chromium() as browser:
        for width, height in SIZES:
            size = {"width": width, "height": height}
            for path in ("", "architecture"):
                for number in range(options.rounds):
                    page = browser.new_page(viewport=size, reduced_motion="no-preference")
                    page.add_init_script(WATCH)
                    page.goto(f"{server.address}/{path}?{urlencode({'text': TEXT})}")
                    first = "" if path else f"{_first_word(page):.2f}"
                    begun, ended = _played(page)
                    times = page.evaluate("window.frameTimes")
                    page.close()
                    shown = [time for time in times if begun <= time <= ended]
                    steps = [b - a for a, b in itertools.pairwise(shown)]
                    p95 = statistics.quantiles(steps, n=20)[-1]
                    figures = (statistics.median(steps), p95, max(steps))
                    rows.append((
                        path or "translate", width, number + 1, len(steps), first,
                        *(f"{figure:.1f}" for figure in figures),
                    ))  # fmt: skip
    print(describe())
    header = ("page", "width", "round", "frames", "first word after paint, s", "median, ms")
    print(table((*header, "95 %, ms", "longest, ms"), rows))


def _first_word(page: "Page") -> float:
    """Return the seconds from the first paint to the first sentence of the player."""
    page.locator(".hl-player-says").wait_for()
    first: float = page.evaluate(f"window.firstWord - {PAINTED}")
    return first / 1000


def _played(page: "Page") -> tuple[float, float]:
    """Let the picture play for a while; return both times by the page's clock, in milliseconds."""
    from tests.browser.app_page import at_rest

    at_rest(page)  # frames of the page that is still loading are not those of the picture
    button = page.get_by_role("button", name=re.compile("Play|Pause"))
    button.wait_for()
    if "Play" in button.inner_text():
        button.click()
    begun: float = page.evaluate("performance.now()")
    page.wait_for_timeout(PLAYED)
    return begun, page.evaluate("performance.now()")
