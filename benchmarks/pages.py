"""The paper's pages in a real Chromium: from a control to the redrawn picture, for 20 words."""

from __future__ import annotations

import argparse
import statistics
from typing import Any, NamedTuple
from urllib.parse import urlencode

from benchmarks.browser import chromium, served
from benchmarks.machine import describe

SENTENCE = (
    "A young man in a blue jacket is carrying a heavy box across the street while two dogs "
    "are running."
)
# what all pictures show now, in words that change when a picture does: canvases inside of shadow
# roots, too, and the drawings of Plotly and Vega
SHOWN = """() => {
  const found = [];
  const walk = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (node.tagName === "CANVAS") found.push(node.toDataURL("image/jpeg", 0.3));
      else if (node.matches("svg.main-svg, svg.marks")) found.push(node.outerHTML);
      if (node.shadowRoot) walk(node.shadowRoot);
    }
  };
  walk(document.querySelector(".stMainBlockContainer"));
  return found.join();
}"""
# the last change counts, so that a chart which is first emptied and then drawn is not done early
REDRAWN = f"""(control) => new Promise((done) => {{
  const shown = {SHOWN};
  let before = shown(), last = 0;
  const started = performance.now();
  control.click();
  const look = () => {{
    const now = performance.now() - started, there = shown();
    if (there !== before) [before, last] = [there, performance.now() - started];
    if (now > {{wait}}) done(last);
    else requestAnimationFrame(look);
  }};
  look();
}})"""
WAIT = 1500  # ms that are watched after a click


class Control(NamedTuple):
    """Two choices between which a page is switched back and forth.

    Args:
        page: its path.
        url: further choices in the URL.
        what: in words.
        choices: selectors of what is clicked.
    """

    page: str
    url: dict[str, str]
    what: str
    choices: tuple[str, str]


def _buttons(key: str) -> tuple[str, str]:
    button = f".st-key-{key} button:nth-of-type"
    return f"{button}(1)", f"{button}(2)"


CONTROLS = (
    Control("heads", {}, "another kind", _buttons("kind")),
    Control("inside", {}, "another kind", _buttons("kind")),
    Control("masks", {}, "another use of attention", _buttons("kind")),
    Control(
        "masks",
        {"mask-view": "take it away"},
        "another mask taken away",
        _buttons("kind"),
    ),
    Control("positions", {"pe_view": "Rotation"}, "all of M_k", _buttons("pe_part")),
    Control("positions", {"pe_view": "Your sentence"}, "another stack", _buttons("pe_stack")),
    Control("schedule", {}, "other axes", _buttons("axes")),
    Control(
        "architecture",
        {},
        "another box opened",
        (".st-key-arch-drawing .hl-box >> nth=3", ".st-key-arch-drawing .hl-box >> nth=6"),
    ),
    Control(
        "architecture",
        {"arch_view": "work and memory"},
        "memory instead of work",
        _buttons("arch_quantity"),
    ),
)


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks pages`."""
    parser = commands.add_parser("pages", help="from a control to the redrawn picture, in Chromium")
    parser.add_argument("--clicks", type=int, default=8, help="how many are measured on each page")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    print(describe())
    with chromium() as browser, served() as address:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        for control in CONTROLS:
            query = urlencode({"text": SENTENCE, **control.url})
            page.goto(f"{address}/{control.page}?{query}")
            for choice in control.choices:
                page.locator(choice).wait_for()
            page.wait_for_timeout(3000)  # all that is drawn first is there
            script = REDRAWN.replace("{wait}", str(WAIT))
            # the first two warm up what every later one finds warm
            seconds = [
                page.locator(control.choices[(n + 1) % 2]).evaluate(script) / 1000
                for n in range(options.clicks + 2)
            ][2:]
            print(
                f"{control.page}, {control.what}: median {statistics.median(seconds):.2f} s of "
                f"{len(seconds)}, {min(seconds):.2f} to {max(seconds):.2f} s"
            )
