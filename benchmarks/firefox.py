"""Every view in Firefox, by WebDriver BiDi: whether it is drawn, and what the console says."""

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from websockets.sync.client import ClientConnection, connect

from benchmarks import browser, machine
from tests.browser import accessibility
from tests.browser.accessibility import SENTENCE, views
from tests.server import MAX_MESSAGE, served
from transformer import HeadlightError
from viz.app.links.navigation import CORPUS_VIEW, REMOVE_HEADS

PATIENCE, MOMENT = 60.0, 10.0  # seconds until a view is there, and until its first picture is

BEGIN_WITH_A_CHOICE = [{CORPUS_VIEW: view} for view in (REMOVE_HEADS, "Dictionary")]
"""Views that draw nothing until the user has chosen something."""

SIZES = {"1280 px": (1280, 720), "390 px": (390, 844)}
# the last part of a page is there, and no run is under way
READY = """!!document.querySelector(".st-key-explanation")
    && document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning" """
REFUSALS = """() => { window.refusals = []; addEventListener("securitypolicyviolation",
    (event) => refusals.push(`${event.effectiveDirective}: ${event.blockedURI}`)); }"""
BOXES = (
    """[...document.querySelectorAll("[data-testid=stException]")].map((box) => box.innerText)"""
)


class Failed(HeadlightError):
    """Firefox did not do what it was asked."""


class Tab:
    """The one tab of a headless Firefox."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._sent = 0
        self.errors: list[str] = []
        self._ask("session.new", capabilities={})
        self._context = self._ask("browsingContext.getTree")["contexts"][0]["context"]
        self._ask("session.subscribe", events=["log.entryAdded"])
        self._ask("script.addPreloadScript", functionDeclaration=REFUSALS)

    def _ask(self, method: str, **parameters: object) -> Any:
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": parameters}
        self._connection.send(json.dumps(message))
        while True:
            answer = json.loads(self._connection.recv(PATIENCE))
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.errors.append(answer["params"]["text"])
            elif answer.get("id") == self._sent:
                if answer["type"] == "error":
                    raise Failed(f"{method}: {answer['message']}")
                return answer["result"]

    def resize(self, width: int, height: int) -> None:
        """Give the tab a size, in CSS pixels."""
        self._ask(
            "browsingContext.setViewport",
            context=self._context,
            viewport={"width": width, "height": height},
        )

    def open(self, address: str) -> int:
        """Open an address, wait until the view is there, and return how many pictures it has."""
        self._ask("browsingContext.navigate", context=self._context, url=address, wait="complete")
        end = time.monotonic() + PATIENCE
        while not self.evaluate(READY):
            if time.monotonic() > end:
                raise Failed(f"{address} is not drawn after {PATIENCE:g} s.")
            time.sleep(0.1)
        before, drawn = 0, self.evaluate(f"({accessibility.PICTURES})()")
        end = time.monotonic() + MOMENT
        while drawn != before or (not drawn and time.monotonic() < end):  # they come one by one
            time.sleep(1)
            before, drawn = drawn, self.evaluate(f"({accessibility.PICTURES})()")
        return int(drawn)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression, as JSON has it."""
        result = self._ask(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target={"context": self._context},
            awaitPromise=True,
        )
        if result["type"] != "success":
            raise Failed(f"{expression[:40]}: {result['exceptionDetails']['text']}")
        return json.loads(result["result"]["value"])


@contextmanager
def firefox() -> Iterator[Tab]:
    """Run a headless Firefox with a new profile; a context manager."""
    path = shutil.which("firefox-esr") or shutil.which("firefox")
    if path is None:
        raise browser.NoBrowser("There is no Firefox on the PATH: install it, then look again.")
    with tempfile.TemporaryDirectory() as profile:
        command = [path, "--headless", "--remote-debugging-port=0", "--profile", profile]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            place = Path(profile, "WebDriverBiDiServer.json")
            end = time.monotonic() + PATIENCE
            while not place.is_file() or not place.stat().st_size:
                if process.poll() is not None or time.monotonic() > end:
                    raise browser.NoBrowser("Firefox does not listen to WebDriver BiDi.")
                time.sleep(0.1)
            listening = json.loads(place.read_text("utf-8"))
            address = f"ws://{listening['ws_host']}:{listening['ws_port']}/session"
            with connect(address, max_size=MAX_MESSAGE) as connection:
                yield Tab(connection)
        finally:
            process.terminate()
            process.wait(timeout=20)


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks firefox`."""
    parser = commands.add_parser("firefox", help="every view in Firefox")
    parser.add_argument(
        "--pages", nargs="+", metavar="PAGE", help="paths of pages; every page unless given"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Open every view, and print what is wrong; the status is 1 if anything is."""
    counts = dict.fromkeys(SIZES, 0)
    with served() as server, firefox() as tab:
        for size in SIZES:
            tab.resize(*SIZES[size])
            for path, query in views(options.pages):
                name = " ".join([path or "translate", *query.values()])
                address = f"{server.address}/{path}?{urlencode({'text': SENTENCE, **query})}"
                is_blank = not tab.open(address) and query not in BEGIN_WITH_A_CHOICE
                faults = [
                    *["nothing is drawn"] * is_blank,
                    *(f"blank: {place}" for place in tab.evaluate(f"({accessibility.BLANK})()")),
                    *(f"refused: {text}" for text in tab.evaluate("window.refusals")),
                    *(f"error box: {text}" for text in tab.evaluate(BOXES)),
                    *(f"console: {text}" for text in tab.errors),
                ]
                tab.errors.clear()
                counts[size] += len(faults)
                for fault in faults:
                    print(f"{size}, {name}: {fault}", flush=True)
    print(machine.describe())
    print(machine.table(("Firefox, size", "faults"), counts.items()))
    return int(any(counts.values()))
