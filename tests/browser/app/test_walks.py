"""Links and buttons of the pages, each on the page where it stands."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

import pytest

from benchmarks.walk import ELSEWHERE, Watch, look, settle
from tests.browser.accessibility import views
from tests.browser.app_page import ENTER

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

CONTROLS = """
:is(a[href], button:not([disabled]), label[data-baseweb=checkbox], [role=tab],
[role=menuitem]):visible"""
# of each control its group, which is the key of the element around it, and its name, whether it is
# a link, whether it stands on every page, and the other page to which it leads; null of one that
# only explains, opens a list of options, saves something, leaves the app or is chosen already
NAMES = r"""(all) => all.map((element) => {
    const beside = "[data-testid=stTooltipIcon], [data-testid=stElementToolbar], "
        + "[data-testid=stDownloadButton], [data-testid=stSelectbox], [data-testid=stFileUploader]";
    const bars = "header, .st-key-sentence-bar, .st-key-share";
    const link = element.closest("a[href]");
    if (element.closest(beside) || element.ariaChecked === "true") return null;
    if (link && (link.origin !== location.origin || link.target || link.hash)) return null;
    const around = element.getRootNode().host ?? element; // of a component
    const group = around.closest("[class*=st-key]")?.className.match(/st-key-(\S+)/)[1] ?? "";
    const text = element.ariaLabel || element.innerText || element.localName;
    const name = text.trim().replace(/\s+|expand_\w+$/g, " ");
    const everywhere = element.closest(bars) !== null && group !== "swap";
    const kinds = /\d+|encoder_self|decoder_self|cross/g;
    const target = link && link.pathname !== location.pathname ? link.pathname : "";
    return [group.replace(kinds, "#"), name, link !== null, everywhere, target];
})"""
SAVES = ("Save as", "Save a BibTeX")


WITH_FINDINGS = ("heads", "masks", "positions", "training", "architecture")
"""Pages with findings on the first sentence by the tests' model."""
FINDINGS = "findings-links"
PRESSED_WHOLE = ("",)
"""Pages of which every control is pressed; of the others the findings, and all that is shared."""


class Control(NamedTuple):
    group: str
    name: str
    is_link: bool
    everywhere: bool
    target: str  # path of another page, to which a link leads


def controls(page: "Page") -> dict[Control, int]:
    """The controls in sight, with the place of each among all that CONTROLS selects."""
    named = page.locator(CONTROLS).evaluate_all(NAMES)
    there = {Control(*given): place for place, given in enumerate(named) if given}
    return {
        control: place
        for control, place in there.items()
        if not ELSEWHERE.search(control.name) and not control.name.startswith(SAVES)
    }


MOST = 1
"""Controls of a group that are pressed on a page: ten buttons for ten sentences are one thing."""


class Presses:
    """A reader who presses every control of a view, and notes what goes wrong."""

    def __init__(self, page: "Page", address: str, log: Path) -> None:
        self.page, self.address, self.watch = page, address, Watch(page, log)
        self.pressed: set[tuple[str, Control]] = set()
        self.groups: Counter[tuple[str, str]] = Counter()
        self.faults: list[str] = []

    def press_all(self, path: str, query: str) -> None:
        """Press every control of a view that is new, and every one that another has brought up."""
        if self.page.url.startswith(self.address):
            self._enter(path, query)
        else:
            self.page.goto(f"{self.address}{path}?{query}")
            settle(self.page)
        self._note(path, query, [])
        links_first = sorted(controls(self.page), key=lambda control: not control.is_link)
        for control in self._new(path, links_first):
            opened = self._press(path, query, [control])
            for further in self._new("" if control.everywhere else path, opened, control.name):
                self._press(path, query, [control, further])

    def _new(self, path: str, there: list[Control], opener: str = "") -> Iterator[Control]:
        for control in there:
            page = "" if control.everywhere else path
            group = page, control.group or opener or control.name
            if path[1:] not in PRESSED_WHOLE and control.group != FINDINGS:
                continue  # `python -m benchmarks walk` presses these
            if control.target:  # a page is reached by a link of each other page in the same way
                group = "", control.target
            if (page, control) not in self.pressed and self.groups[group] < MOST:
                self.groups[group] += 1
                self.pressed.add((page, control))
                yield control

    def _press(self, path: str, query: str, way: list[Control]) -> list[Control]:
        """Press controls one after another; return those that the last one has brought up."""
        opened: list[Control] = []
        there, stays = controls(self.page), self.path() == path
        steps = way
        if way[-1] in there and (stays or way[-1].everywhere):
            steps = way[-1:]  # what an earlier press has brought up is still there
        elif way[0] not in there or not (stays or way[-1].everywhere):
            self._enter(path, query)
        for control in steps:
            before = controls(self.page)
            if control not in before:
                return []  # as where the sentence of another press has no such row
            run = look(self.page).run
            element = self.page.locator(CONTROLS).nth(before[control])
            element.evaluate("(element) => element.click()")
            settle(self.page, run)
        if self.path() == path:
            opened = [control for control in controls(self.page) if control not in before]
        self._note(path, query, way)
        return opened

    def _enter(self, path: str, query: str) -> None:
        run = look(self.page).run
        self.page.evaluate(ENTER, f"{path}?{query}")
        settle(self.page, run, 5)

    def path(self) -> str:
        return str(self.page.evaluate("location.pathname"))

    def _note(self, path: str, query: str, way: list[Control]) -> None:
        place = " > ".join([f"{path}?{query}", *(control.name for control in way)])
        self.faults += [f"{place}: {fault}" for fault in self.watch.faults()]


@pytest.fixture(scope="module")
def presses(browser: "Browser", logged_app: tuple[str, Path]) -> Presses:
    """One reader for all pages: what stands on every page is pressed once."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    return Presses(page, *logged_app)


# test_screens.py opens every page, and hears the faults of its scripts
@pytest.mark.parametrize("path", ["translate", *WITH_FINDINGS])
def test_every_link_and_button_of_a_page_leaves_it_whole(presses: Presses, path: str) -> None:
    presses.faults.clear()
    address, query = next(iter(views([path])))  # further views: python -m benchmarks walk
    presses.press_all(f"/{address}", urlencode(query))
    assert presses.faults == []
    groups = {group for page, group in presses.groups if page == f"/{address}"}
    assert FINDINGS in groups or path not in WITH_FINDINGS
    assert groups or address not in PRESSED_WHOLE
