"""Serious faults that axe-core finds on every view, on every kind of screen and in every mode."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from benchmarks.browser import BLANK, chromium
from benchmarks.machine import describe, table
from benchmarks.server import ROOT, served
from transformer import InputError
from viz.app.links.address import PRESENT
from viz.draw.labels import PAGE_TITLES

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
SENTENCE = "The old cat sleeps under the table."

# a rule says how serious its faults are; what is not serious enough is not looked for
STILL = """() => !document.getAnimations().some(({ playState, effect }) =>
    playState === "running" && Number.isFinite(effect.getComputedTiming().endTime))"""
RUN = """async () => (await axe.run(document, { resultTypes: ["violations"],
    preload: false, iframes: false,
    rules: Object.fromEntries(axe._audit.rules
        .filter(({ impact }) => impact && !["serious", "critical"].includes(impact))
        .map(({ id }) => [id, { enabled: false }])) })).violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => [id, nodes.map(
        ({ target, failureSummary }) => [String(target), failureSummary])])"""

# what is wider than the screen, and what still moves, of Streamlit and of ours
OVERFLOW = """() => {
    const main = document.querySelector("[data-testid=stMain]");
    return main.scrollWidth > main.clientWidth + 1 ? [`${main.scrollWidth} px wide`] : [];
}"""
MOVING = """() => document.getAnimations()
    .filter((motion) => motion.playState === "running"
        && motion.effect.getComputedTiming().endTime > 1)
    .map(({ effect }) => effect.target?.className || "an element")"""


@dataclass(frozen=True)
class Mode:
    """Screen and settings of a user."""

    name: str
    size: tuple[int, int]  # of the screen, in CSS pixels
    scale: int  # physical pixels of one of them: 2 is a zoom of 200 %
    media: Mapping[str, str]  # settings that the page sees
    checks: Mapping[str, str]  # scripts, each of which lists faults


NARROW = {"wider than the screen": OVERFLOW}
MODES = (
    Mode("1440 px, light", (1440, 900), 1, {"color_scheme": "light"}, NARROW),
    Mode("1440 px, dark", (1440, 900), 1, {"color_scheme": "dark"}, {}),
    Mode("390 px, light", (390, 844), 1, {"color_scheme": "light"}, NARROW),
    Mode("390 px, dark", (390, 844), 1, {"color_scheme": "dark"}, {}),
    Mode("200 % zoom", (640, 400), 2, {"color_scheme": "light"}, NARROW),
    Mode(
        "reduced motion", (1280, 800), 1,
        {"color_scheme": "light", "reduced_motion": "reduce"}, {"still moving": MOVING},
    ),
    Mode(
        "forced colours", (1280, 800), 1,
        {"color_scheme": "light", "forced_colors": "active"}, {"blank": BLANK},
    ),
)  # fmt: skip


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


def axe() -> str:
    """Return the script of axe-core."""
    if not AXE.is_file():
        raise InputError("axe-core is not installed: run `npm ci` first.")
    return AXE.read_text("utf-8")


def views(pages: list[str] | None = None) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield path and query of every view of the app, or of some pages."""
    from tests.fuzz.views import VIEWS, addresses
    from viz.pages import corpus

    further = {
        "corpus": [*addresses(corpus.PAGE)],
        "heads": [{"lesson": "attention.en", "card": "1"}, {PRESENT: "1"}],
    }
    for page in PAGE_TITLES:
        if pages is None or page in pages:
            for query in (*VIEWS.get(page, ()), *further.get(page, ())):
                yield ("" if page == "translate" else page), query


def visit(page: "Page", address: str, path: str, query: Mapping[str, str]) -> None:
    """Go to a view and wait until all of it is there."""
    from tests.browser.app_page import AT_REST, enter

    enter(page, f"{address}/{path}?{urlencode({'text': SENTENCE, **query})}")
    page.locator(".st-key-explanation").wait_for(state="attached")  # the last of a page
    page.locator(AT_REST).wait_for()


def faults(page: "Page", mode: Mode) -> list[str]:
    """List the serious faults of a page as it stands, in a mode."""
    from tests.browser.app_page import THEME, at_rest, until

    if not page.evaluate("'axe' in window"):
        page.evaluate(axe())
    page.set_viewport_size({"width": mode.size[0], "height": mode.size[1]})
    is_app, scheme = page.locator(".stApp").count() > 0, mode.media["color_scheme"]
    changes = is_app and page.evaluate(THEME) != scheme
    page.emulate_media(**mode.media)  # type: ignore[arg-type]
    # forced colours have a light or dark scheme of their own
    if changes and "forced_colors" not in mode.media:
        until(page, lambda: page.evaluate(THEME), scheme)
        at_rest(page)  # Streamlit runs the page again, and what it draws anew is pale meanwhile
        until(page, lambda: page.evaluate(STILL), True)  # the last colours fade
    serious = [
        f"{rule}: {target}, {summary}" for rule, nodes in page.evaluate(RUN)
        for target, summary in nodes
    ]  # fmt: skip
    for name, script in mode.checks.items():
        page.wait_for_timeout(400)  # a chart is fitted to the width a moment after it has come
        serious += [f"{name}: {fault}" for fault in page.evaluate(script)]
    return serious
