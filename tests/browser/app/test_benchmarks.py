"""Benchmarks of the app, as far as their first step, on the server and the browser of the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from benchmarks import pages
from tests.benchmarks import first_step, test_first_steps
from tests.benchmarks.first_step import Step
from tests.browser import app_page
from tests.server import Server
from viz.app.models import menu

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


SCHEDULE = tuple(control for control in pages.CONTROLS if control.page == "schedule")
SOON = pages.QUIET.replace("800", "50")

STEPS = {
    "accessibility": Step("views", ["--pages", "schedule"]),  # test_screens.py looks at them
    "app": Step("_seconds", ["--sentences", "1"]),
    "class": Step("ForgedSession.run"),
    "firefox": Step("views", ["--pages", "schedule"]),
    "lessons": Step("Player.__init__", ["tour.en"]),  # test_lessons.py lets it play
    "pages": Step(
        "_seconds", ["--clicks", "1"], {"CONTROLS": SCHEDULE, "QUIET": SOON, "WAIT": 100}
    ),
    "pictures": Step("_save_still", ["masks", "--out", "."]),
    "readers": Step("ask", ["--readers", "1", "--every", "0.1", "--seconds", "1"]),
    "walk": Step("walk", ["--seeds", "1", "--minutes", "0.01"], {"STEPS": 0}),
}


class Chromium:
    """The tests' browser and its tab, as `benchmarks.browser.chromium` gives them."""

    def __init__(self, tab: Page, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tab = tab
        wait = tab.wait_for_timeout
        stand_ins: dict[str, Any] = {
            "goto": partial(app_page.enter, tab),  # which loads no script again
            "wait_for_timeout": lambda milliseconds: wait(min(milliseconds, 20)),
            "wait_for_function": self._wait_for,
            "close": lambda: None,
        }
        if not tab.url.startswith(address):
            app_page.enter(tab, f"{address}/schedule")
        for name, stand_in in stand_ins.items():
            monkeypatch.setattr(tab, name, stand_in)

    def _wait_for(self, script: str, *, arg: Any = None, **_: Any) -> None:
        """Wait without evaluating text in the page, which its policy forbids."""
        app_page.until(self.tab, lambda: bool(self.tab.evaluate(script, arg)), True)

    def new_page(self, **_: Any) -> Any:
        """The tab, whatever it should look like."""
        return self.tab

    def new_context(self, **_: Any) -> Any:
        return SimpleNamespace(new_page=self.new_page, close=lambda: None)


@pytest.mark.parametrize("name", STEPS)
def test_the_first_step_can_be_taken(
    name: str,
    address: str,
    trained_folder: Path,
    shared: Page,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    port = urlsplit(address).port or 0

    @contextmanager
    def serving(*_: object, log: Path = tmp_path / "log", **__: object) -> Iterator[Server]:
        log.write_text("")
        process: Any = SimpleNamespace(pid=os.getpid())
        yield Server(port, process, log)

    @contextmanager
    def chromium() -> Iterator[Any]:
        yield Chromium(shared, address, monkeypatch)

    module = first_step.commands()[name]
    tools = {
        **dict.fromkeys(("served", "running"), serving),
        "headlight_app": lambda log: serving(log=log),
        "chromium": chromium,
        "firefox": lambda: nullcontext(SimpleNamespace(resize=lambda *_: None)),
    }
    for tool, stand_in in tools.items():
        if hasattr(module, tool):
            monkeypatch.setattr(module, tool, stand_in)
    monkeypatch.setenv(menu.CHECKPOINT_VARIABLE, str(trained_folder))
    monkeypatch.chdir(tmp_path)
    step = partial(first_step.take, name, STEPS[name], monkeypatch, str(trained_folder))
    if hasattr(module, "chromium"):
        step()
    else:  # an event loop of its own, which is not that of the browser
        with ThreadPoolExecutor(1) as thread:
            thread.submit(step).result()


def test_no_benchmark_is_left_out() -> None:
    assert STEPS.keys() | test_first_steps.STEPS.keys() == first_step.commands().keys()
    assert not STEPS.keys() & test_first_steps.STEPS.keys()
