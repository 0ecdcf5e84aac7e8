"""The first view of each page: what Tab reaches, what is to be read, what is seen whole."""

import argparse
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.accessibility import visit
from benchmarks.browser import chromium
from benchmarks.machine import describe, table
from benchmarks.server import served
from viz.draw.labels import PAGE_TITLES

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZES = ((1280, 720), (390, 844))
"""CSS pixels of a projector and of a phone."""

PICTURES = {
    "translate": (".st-key-player .hl",),
    "heads": (".st-key-grid [role=gridcell][aria-label^=cross]", ".st-key-heads-map .hl-frame"),
    "inside": (".st-key-inside .hl-scroll canvas",),
    "roles": (".st-key-measured-map-beside",),
    "corpus": (".st-key-corpus-scatter [data-testid=stVegaLiteChart]",),
    "architecture": (".st-key-arch-drawing canvas",),
    "masks": (".st-key-mask-grids .hl-mask:first-child",),
    "positions": (".st-key-pe_encoding .js-plotly-plot",),
    "schedule": (".st-key-schedule-picture [data-testid=stVegaLiteChart]",),
    "training": (".st-key-forming-player .hl-frame",),
}
"""Selectors of the picture of each page; its first one is what a phone shows first."""

# A stop is what Tab reaches in the first view: a menu once, a group of radio buttons once, a
# picture and its cells never. A sentence has four words or more.
COUNT = """() => {
  const all = (root) => [...root.querySelectorAll("*")].flatMap((element) =>
    [element, ...(element.shadowRoot ? all(element.shadowRoot) : [])]);
  const inView = (element) => {
    const { left, top, right, bottom, width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && top < innerHeight && bottom > 0 && left < innerWidth
      && right > 0 && element.checkVisibility({ visibilityProperty: true })
      && !element.closest("[aria-hidden=true]");
  };
  const elements = all(document.body).filter(inView);
  const stops = elements.filter((element) => element.tabIndex >= 0
    && element.matches("a[href], button, input, select, textarea, summary, [tabindex]")
    && !element.matches(":disabled, canvas, section, [data-testid=stMain]")
    && !element.matches("[role=gridcell], [role=application], .hl-scroll, .hl-box")
    && !(element.type === "radio" && !element.checked));
  const blocks = elements.filter((element) => element.matches(
    "p, li, small, figcaption, h1, h2, h3, [data-testid=stText], [class*=hl-] > :is(div, p, span)")
    && ![...element.children].some((child) => child.matches("p, div, ul")));
  const sentences = blocks.flatMap((element) =>
    element.innerText.split(/(?<=[.!?])\\s+/).filter((text) =>
      text.trim().split(/\\s+/).length > 3));
  return [stops.length, new Set(sentences).size, stops.map((element) =>
    (element.ariaLabel || element.innerText || element.localName).split("\\n")[0])];
}"""


class FirstView(NamedTuple):
    """Figures of a page before anything is done on it."""

    stops: int
    sentences: int
    names: list[str]  # of the stops, in order
    top: float  # of the picture, in CSS pixels of the screen
    foot: float  # of the lowest picture, likewise


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks first-views`."""
    parser = commands.add_parser("first-views", help="controls, sentences, picture of first views")
    parser.add_argument("--address", metavar="URL", help="of a running app; else one is started")
    parser.add_argument("--pages", nargs="+", metavar="PAGE", choices=list(PAGE_TITLES))
    parser.add_argument("--names", action="store_true", help="prints what Tab reaches, too")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    print(describe())
    with _address(options.address) as address, chromium() as browser:
        for width, height in SIZES:
            rows = []
            page = browser.new_page(viewport={"width": width, "height": height})
            for path in options.pages or PAGE_TITLES:
                view = measured(page, address, path)
                whole = "whole" if view.foot <= height else f"{view.top:.0f} to {view.foot:.0f} px"
                rows.append((path, view.stops, view.sentences, whole))
                if options.names:
                    print(path, *view.names, sep=" | ")
            print(f"{width} × {height}")
            print(table(("page", "controls", "sentences", "picture"), rows))
            page.close()


def measured(page: "Page", address: str, path: str) -> FirstView:
    """Open a page on its default sentence, and measure its first view."""
    visit(page, address, "" if path == "translate" else path, {})
    is_phone = page.evaluate("innerWidth < 641")
    places = [page.locator(part) for part in PICTURES[path][: 1 if is_phone else None]]
    for place in places:
        place.first.wait_for()
    boxes, before = [], None
    while boxes != before:  # a chart is fitted to the width a moment after it has come
        page.wait_for_timeout(300)
        parts = [part for place in places for part in place.all()]
        before, boxes = boxes, [box for part in parts if (box := part.bounding_box())]
    tops, feet = [box["y"] for box in boxes], [box["y"] + box["height"] for box in boxes]
    stops, sentences, names = page.evaluate(COUNT)
    return FirstView(stops, sentences, names, min(tops, default=0), max(feet, default=math.inf))


@contextmanager
def _address(running: str | None) -> Iterator[str]:
    if running:
        yield running.rstrip("/")
        return
    with served() as server:
        yield server.address
