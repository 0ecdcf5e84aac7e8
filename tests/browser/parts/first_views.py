"""The first view of a page: what Tab reaches, and what is seen whole."""

import math
from typing import TYPE_CHECKING, NamedTuple

from tests.browser.accessibility import visit

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURES = {
    "translate": (".st-key-player .hl",),
    "heads": (".st-key-grid [role=gridcell][aria-label^=cross]", ".st-key-heads-map .hl-frame"),
    "inside": (".st-key-inside .hl-scroll canvas",),
    "roles": (".st-key-measured-map-beside",),
    "corpus": (".st-key-corpus-scatter [data-testid=stVegaLiteChart]",),
    "architecture": (".st-key-arch-drawing canvas",),
    "figure2": ("[data-testid=stVegaLiteChart]",),
    "self_attention": (".st-key-paths-picture .headlight-path", ".st-key-arch-table-1 table"),
    "additive": (".st-key-additive-picture [data-testid=stPlotlyChart]",),
    "masks": ("[data-testid=stVegaLiteChart]",),
    "positions": (".st-key-positions-picture [data-testid=stVegaLiteChart]",),
    "tables": (".st-key-tables-picture [data-testid=stVegaLiteChart]",),
    "schedule": (".st-key-schedule-picture [data-testid=stVegaLiteChart]",),
    "hooks": (".st-key-hooks-drawing canvas",),
    "training": (".st-key-forming-player .hl-frame",),
}
"""Selectors of the picture of each page."""

# A stop is what Tab reaches in the first view: a menu once, a group of radio buttons once, a
# picture and its cells never.
COUNT = """() => {
  const all = (root) => [...root.querySelectorAll("*")].flatMap((element) =>
    [element, ...(element.shadowRoot ? all(element.shadowRoot) : [])]);
  const inView = (element) => {
    const { left, top, right, bottom, width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && top < innerHeight && bottom > 0 && left < innerWidth
      && right > 0 && element.checkVisibility({ visibilityProperty: true })
      && !element.closest("[aria-hidden=true]");
  };
  const stops = all(document.body).filter((element) =>
    element.matches("a[href], button, input, select, textarea, summary, [tabindex]")
    && element.tabIndex >= 0 && inView(element)
    && !element.matches(":disabled, canvas, section, [data-testid=stMain]")
    && !element.matches("[role=gridcell], [role=application], .hl-scroll, .hl-box")
    && !(element.type === "radio" && !element.checked));
  return stops.map((element) =>
    (element.ariaLabel || element.innerText || element.localName).split("\\n")[0]);
}"""


# as web.dev defines it, but over all of the time since the page was asked for, which the app may
# show in the document of the page before
SHIFT = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, startTime, value } of list.getEntries())
      if (!hadRecentInput && startTime >= (window.askedAt ?? 0)) sum += value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 50);
})"""


# top and foot of each element that is seen
BOXES = """all => all.map((element) => element.getBoundingClientRect())
    .filter(({ width, height }) => width && height).map(({ top, bottom }) => [top, bottom])"""


class FirstView(NamedTuple):
    """Figures of a page before anything is done on it."""

    names: list[str]  # of what Tab reaches, in order
    top: float  # of the picture, in CSS pixels of the screen
    foot: float  # of the lowest picture, likewise
    shift: float  # cumulative layout shift: how far what is seen has moved by itself


def measured(page: "Page", address: str, path: str) -> FirstView:
    """Open a page on its default sentence, and measure its first view."""
    page.evaluate("window.askedAt = performance.now()")
    visit(page, address, "" if path == "translate" else path, {})
    places = [page.locator(part) for part in PICTURES[path]]
    for place in places:
        place.first.wait_for()
    boxes: list[list[float]] = []
    before = None
    while boxes != before:  # a chart is fitted to the width a moment after it has come
        page.wait_for_timeout(150)
        before, boxes = boxes, [box for place in places for box in place.evaluate_all(BOXES)]
    tops, feet = [top for top, _ in boxes], [foot for _, foot in boxes]
    names, shift = page.evaluate(COUNT), page.evaluate(SHIFT)
    return FirstView(names, min(tops, default=0), max(feet, default=math.inf), shift)
