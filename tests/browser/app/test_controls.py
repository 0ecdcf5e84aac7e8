"""Links and buttons of the first page, each pressed once."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.browser import app_page
from tests.browser.watch import ELSEWHERE, Watch, look, settle

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

# the group of each control in sight, which is the key of the element around it, and its name; null
# of one that only explains, opens a list of options or of pages, saves something, leaves the app or
# is chosen already; with a number, that control is clicked
CONTROLS = r"""(clicked) => {
    const all = (root) => [...root.querySelectorAll("*")].flatMap((element) =>
        [element, ...(element.shadowRoot ? all(element.shadowRoot) : [])]);
    const controls = "a[href], button:not([disabled]), label[data-baseweb=checkbox], [role=tab], "
        + "[role=menuitem]";
    const beside = "[data-testid=stTooltipIcon], [data-testid=stElementToolbar], "
        + "[data-testid=stDownloadButton], [data-testid=stSelectbox], "
        + "[data-testid=stFileUploader], [data-testid^=stTopNav]";
    const there = all(document.body).filter((element) => element.matches(controls)
        && element.checkVisibility({ visibilityProperty: true }));
    if (clicked !== null) return there[clicked].click();
    return there.map((element) => {
        const link = element.closest("a[href]");
        if (element.closest(beside) || element.ariaChecked === "true") return null;
        if (link && (link.origin !== location.origin || link.target || link.hash)) return null;
        const around = element.getRootNode().host ?? element; // of a component
        const group = around.closest("[class*=st-key]")?.className.match(/st-key-(\S+)/)[1] ?? "";
        const text = element.ariaLabel || element.innerText || element.localName;
        return [group, text.trim().replace(/\s+|expand_\w+$/g, " ")];
    });
}"""
SAVES = ("Save as", "Save a BibTeX")


class Control(NamedTuple):
    group: str
    name: str


def controls(page: "Page") -> dict[Control, int]:
    """The controls in sight, with the place of each among all that CONTROLS selects."""
    named = page.evaluate(CONTROLS, None)
    there = {Control(*given): place for place, given in enumerate(named) if given}
    return {
        control: place
        for control, place in there.items()
        if not ELSEWHERE.search(control.name) and not control.name.startswith(SAVES)
    }


def test_every_link_and_button_leaves_the_page_whole(
    visit: Callable[..., "Page"], logged_app: tuple[str, Path]
) -> None:
    first = f"{logged_app[0]}/?"
    page = visit(text=app_page.SENTENCE)
    settle(page)
    start = page.url
    watch = Watch(page, logged_app[1])
    faults: list[str] = []
    groups: set[str] = set()

    def new(opener: str = "") -> list[tuple[Control, ...]]:
        """Ways to one control of each group that is new: ten buttons for ten texts are one."""
        unpressed: list[tuple[Control, ...]] = []
        for control in controls(page):
            if (group := control.group or opener or control.name) not in groups:
                groups.add(group)
                unpressed.append((control,))
        return unpressed

    ways = new()
    assert len(ways) > 10
    while ways:
        way = steps = ways.pop(0)
        if page.url.startswith(first) and way[-1] in controls(page):
            steps = way[-1:]  # what an earlier press has brought up is still there
        else:
            run = look(page).run
            page.evaluate(app_page.ENTER, start)
            settle(page, run, 5)
        for control in steps:
            there, run = controls(page), look(page).run
            if control in there:  # the sentence of another press may have no such control
                page.evaluate(CONTROLS, there[control])
                settle(page, run)
        names = " > ".join(name for _, name in way)
        faults += [f"{names}: {fault}" for fault in watch.faults()]
        if len(way) == 1 and page.url.startswith(first):
            ways[:0] = [(*way, *further) for further in new(way[0].name)]
    assert faults == []
    page.goto("about:blank")  # the views that were saved end with their session
