"""Faults of a page of the app, and the wait until the page is at rest."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE, MOMENT = 60.0, 0.2
"""Seconds until a page must be at rest, and until a run that an action asked for has begun."""
ELSEWHERE = re.compile(
    r"Print|Record|Clear cache|Rerun|Fullscreen|About|Main menu|Copy version", re.IGNORECASE
)
"""Names of controls that are the browser's, Streamlit's, or open a dialog of the system."""
# the number of the run that has drawn the page, and what a user sees of an error
LOOK = """() => ({
    run: document.querySelector("[data-address]")?.dataset.at ?? "",
    boxes: [...document.querySelectorAll("[data-testid=stException]")].map((box) => box.innerText),
    text: /.{0,80}(has encountered an error|Traceback|StreamlitAPIException).{0,160}/
        .exec(document.body.innerText)?.[0] ?? "",
})"""
# whether all that another run than `run` draws is there; asked in the page, which is far cheaper
SETTLED = """async ({ run, moment, patience }) => {
    const began = performance.now();
    const sees = (selector) => document.querySelector(selector) !== null;
    for (let last, alike = 0, waited = 0; waited < patience; waited = performance.now() - began) {
        const now = document.querySelector("[data-address]")?.dataset.at ?? "";
        const rests = sees("[data-testid=stApp][data-test-script-state=notRunning]")
            && !sees("[data-testid=stSkeleton]");
        const state = `${now} ${rests} ${document.getElementsByTagName("*").length}`;
        alike = state === last ? alike + 1 : 0;
        last = state;
        // a page without a translation has no end
        const enough = sees(".st-key-explanation, [data-testid=stException]") ? 3 : 12;
        if (rests && now && (now !== run || waited > moment) && alike >= enough) return true;
        await new Promise((done) => setTimeout(done, 25));
    }
    return false;
}"""
LOGGED = re.compile(r"Traceback|\bERROR\b|\bCRITICAL\b|Exception\b")


class Look(NamedTuple):
    """State of a page."""

    run: str
    boxes: list[str]
    text: str


def look(page: Page) -> Look:
    """Return the state of a page, also while it is loaded anew."""
    from playwright.sync_api import Error

    try:
        return Look(**page.evaluate(LOOK))
    except Error:  # another document is on the way
        return Look("", [], "")


def settle(page: Page, run: str = "", moment: float = MOMENT) -> bool:
    """Wait until a page is at rest after another run than `run`; return False if it never is.

    An action that asks for no run is given a moment to do so.
    """
    from playwright.sync_api import Error

    end = time.monotonic() + PATIENCE
    while (left := end - time.monotonic()) > 0:
        given = {"run": run, "moment": 1000 * moment, "patience": 1000 * left}
        try:
            return bool(page.evaluate(SETTLED, given))
        except Error:  # another document is on the way
            page.wait_for_timeout(25)
    return False


class Watch:
    """All that goes wrong on a page, and in its server's log, from one reading to the next."""

    def __init__(self, page: Page, log: Path) -> None:
        self._page, self._log, self._read = page, log, log.stat().st_size
        self._heard: list[str] = []
        page.on("pageerror", lambda error: self._heard.append(f"error of the page: {error.stack}"))
        page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        if message.type == "error":
            self._heard.append(f"console: {message.text}")

    def faults(self) -> list[str]:
        """Return each fault in a sentence; none is reported twice."""
        state = look(self._page)
        faults = [f"error box: {text[:300]}" for text in state.boxes]
        if state.text and not state.boxes:
            faults.append(f"on the page: {state.text}")
        heard, self._heard = self._heard, []
        with self._log.open("rb") as log:
            log.seek(self._read)
            written = log.read()
        self._read += len(written)
        text = written.decode("utf-8", "replace")
        if LOGGED.search(text):
            faults.append(f"log: {text[-1500:]}")
        return faults + heard
