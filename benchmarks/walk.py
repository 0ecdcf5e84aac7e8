"""Random walks over the app in a real Chromium, by clicks, keys and typing.

A walk with a name such as `3.7` (seed 3, walk 7) takes the same choices each time. It ends with its
last step, or with an error box, an exception in the server's log or an error on the console; that
is printed with the steps that led there.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from benchmarks import machine
from benchmarks.browser import chromium
from tests.browser import accessibility
from tests.browser.watch import ELSEWHERE, PATIENCE, Watch, look, settle
from tests.server import headlight_app
from transformer.cli.arguments import number, whole_number

if TYPE_CHECKING:
    from playwright.sync_api import ElementHandle, Page

STEPS = 14  # actions of a walk
CLICK = 1000  # milliseconds until a control must take a click

TEXTS = (
    "He said that she had not seen the old man with the telescope, but nobody believed him.",
    *("I ❤ you 😀! C++ costs €5.", "**x** $y$ <b>", "a", "", "   "),
)
NUMBERS = ("0", "1", "2", "7", "64", "999", "-3", "0.5", "1e9")
KEYS = ("ArrowRight", "ArrowLeft", "ArrowDown", "Home", "End", "Escape", "Enter", "Control+z")
CONTROLS = """
:is(button:not([disabled]), a[href], summary, textarea, input[type=number], input[type=text],
label[data-baseweb=checkbox], svg [tabindex], canvas[tabindex], [role=img][tabindex], [role=tab],
[role=radio], [role=slider], [role=combobox], [role=option], [role=gridcell], [role=menuitem],
[role=switch]):visible"""
"""Whatever takes a click or a key, those in the shadow roots of components too."""
OPTIONS = "[role=option]:visible, [role=menuitem]:visible"
"""Selector of the options of an open menu."""
# `elsewhere` is a link that leaves the app, a download, or a field for files
DESCRIBE = """(element) => {
    const role = element.getAttribute("role") ?? element.localName;
    const name = element.ariaLabel || element.innerText || element.getAttribute("href") || "";
    const link = element.closest("a[href]");
    const elsewhere = (link && link.origin !== location.origin) || link?.target === "_blank"
        || link?.download || !element.isConnected
        || element.closest("[data-testid=stDownloadButton], [data-testid=stFileUploader]");
    return {
        role, name: name.trim().replace(/\\s+/g, " ").slice(0, 60), elsewhere: Boolean(elsewhere),
        isText: element.matches("textarea, input[type=text]:not([role=combobox])"),
        isNumber: element.matches("input[type=number]"),
    };
}"""


@dataclass
class Walk:
    """Walk over the app: its name, the steps that it took, and what went wrong at the last one."""

    name: str
    steps: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([f"walk {self.name}: {' > '.join(self.steps)}", *self.faults])


def walk(page: Page, address: str, log: Path, name: str, until: float) -> Walk:
    """Take the walk of a name, the seed of all choices, on a fresh load of one of the app's views.

    It ends at `until` by `time.monotonic` at the latest.
    """
    from playwright.sync_api import Error

    dice, result, watch = random.Random(name), Walk(name), Watch(page, log)
    path, query = dice.choice(list(accessibility.views()))
    start = f"/{path}?{urlencode(query)}"
    page.goto(f"{address}{start}")
    result.steps.append(f"open {start}")
    arrived = settle(page)
    while arrived:
        result.faults = watch.faults()
        if result.faults or len(result.steps) > STEPS or time.monotonic() > until:
            return result
        before, hurried = look(page).run, dice.random() < 0.15
        try:
            result.steps.append(_act(page, dice))
        except Error as error:  # the element has gone, or an open menu covers it
            result.steps.append(f"({str(error).splitlines()[0][:80]}; press Escape)")
            page.keyboard.press("Escape")
        if not page.url.startswith(address):
            page.goto(f"{address}{start}")
        if hurried:  # the next step meets a run under way
            page.wait_for_timeout(60)
        else:
            arrived = settle(page, before)
    result.faults.append(f"not at rest after {PATIENCE:g} s: {page.url}")
    return result


def _act(page: Page, dice: random.Random) -> str:
    """Do one thing, and return it in words."""
    how = dice.random()
    if how < 0.06:
        page.go_back(wait_until="commit")
        return "back"
    if how < 0.09:
        page.reload(wait_until="commit")
        return "reload"
    if how < 0.14:
        page.keyboard.press(key := dice.choice(KEYS))
        return f"press {key}"
    element, described = _choose(page, dice)
    name = f"{described['role']} “{described['name']}”"
    if described["isText"] or described["isNumber"]:
        text = dice.choice(TEXTS if described["isText"] else NUMBERS)
        element.fill(text, timeout=CLICK)
        page.keyboard.press(key := dice.choice(("Enter", "Control+Enter", "Tab")))
        return f"fill {name} with {text!r} and press {key}"
    if described["role"] == "slider":
        element.focus()
        page.keyboard.press(key := dice.choice(KEYS))
        return f"press {key} on {name}"
    element.click(timeout=CLICK)
    return f"click {name}"


def _choose(page: Page, dice: random.Random) -> tuple[ElementHandle, dict[str, Any]]:
    """Choose a control in sight; a picture's hundred cells count as ten, else they were all."""
    from playwright.sync_api import Error

    offered = page.query_selector_all(OPTIONS) if dice.random() < 0.7 else []
    elements = offered or page.query_selector_all(CONTROLS)
    dice.shuffle(elements)
    for element in elements:
        described = element.evaluate(DESCRIBE)
        is_cell = described["role"] == "gridcell" and dice.random() > 0.1
        if not (is_cell or described["elsewhere"] or ELSEWHERE.search(described["name"])):
            return element, described
    raise Error("nothing to click")


def walks(
    new_page: Callable[[], Page], address: str, log: Path, seed: int, until: float
) -> Iterator[Walk]:
    """Yield the walks of a seed, each in a tab of its own, until a time by `time.monotonic`."""
    place = 0
    while time.monotonic() < until:
        page = new_page()
        yield walk(page, address, log, f"{seed}.{place}", until)
        page.close()
        place += 1


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks walk`."""
    parser = commands.add_parser("walk", help="random walks over the app in Chromium")
    parser.add_argument("--minutes", type=number(0.01, 600), default=5.0, help="in total")
    parser.add_argument("--seeds", type=whole_number(1), default=10, help="number of seeds")
    parser.add_argument("--first", type=whole_number(0), default=0, help="the first seed")
    parser.add_argument("--width", type=whole_number(200), default=1280, help="CSS pixels")
    parser.add_argument("--replay", metavar="SEED.WALK", help="take one walk alone")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Walk, and print each walk that ended in a fault; the status is 1 if one did."""
    rows, failed = [], 0
    size = {"width": options.width, "height": 844 if options.width < 600 else 900}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        log = Path(folder, "server.log")

        new_page = browser.new_context(viewport=size, reduced_motion="reduce").new_page
        with headlight_app(log) as server:
            if options.replay:
                end = time.monotonic() + 3600
                print(again := walk(new_page(), server.address, log, options.replay, end))
                return int(bool(again.faults))
            for seed in range(options.first, options.first + options.seeds):
                end = time.monotonic() + 60 * options.minutes / options.seeds
                taken = list(walks(new_page, server.address, log, seed, end))
                wrong = [walk for walk in taken if walk.faults]
                print(*wrong, sep="\n\n", end="\n" if wrong else "", flush=True)
                rows.append((seed, len(taken), sum(len(w.steps) for w in taken), len(wrong)))
                failed += len(wrong)
    print(f"{machine.describe()}, {options.width} CSS pixels")
    print(machine.table(("seed", "walks", "steps", "faults"), rows))
    return int(failed > 0)
