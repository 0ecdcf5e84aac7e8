"""Benchmarks of the app, as far as their first step, on the server and the browser of the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from benchmarks import firefox
from tests.benchmarks import first_step
from tests.browser.app.benchmark_steps import STEPS
from tests.server import Server
from viz.app.models import menu

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


class Chromium:
    """The tests' browser, as `benchmarks.browser.chromium` gives one: it may evaluate text.

    All pages share a context, whatever they should look like, and hardly wait.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def new_page(self, viewport: Any = None, **_: Any) -> Any:
        page: Any = self._browser.new_page(bypass_csp=True, viewport=viewport)
        wait = page.wait_for_timeout
        page.wait_for_timeout = lambda milliseconds: wait(min(milliseconds, 20))
        return page

    def new_context(self, **options: Any) -> Any:
        return SimpleNamespace(new_page=partial(self.new_page, **options), close=lambda: None)


class Firefox(firefox.Tab):
    """A tab of Chromium that is asked as one of Firefox: what is looked for is the same."""

    def __init__(self, page: Page) -> None:
        self._page, self._context, self.errors = page, "", []

    def _ask(self, method: str, **parameters: Any) -> Any:
        if method == "browsingContext.navigate":
            self._page.goto(parameters["url"])
        elif method == "browsingContext.setViewport":
            self._page.set_viewport_size(parameters["viewport"])
        elif method == "script.evaluate":
            value = self._page.evaluate(parameters["expression"])
            return {"type": "success", "result": {"value": value}}
        return None


@pytest.mark.parametrize("name", STEPS)
def test_the_first_step_can_be_taken(
    name: str,
    address: str,
    trained_folder: Path,
    browser: Browser,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    process: Any = SimpleNamespace(pid=os.getpid())
    port = urlsplit(address).port or 0

    @contextmanager
    def serving(*_: object, log: Path = tmp_path / "log", **__: object) -> Iterator[Server]:
        log.write_text("session 1 ends; results 1 MiB, models 98 MiB\n")
        yield Server(port, process, log)

    @contextmanager
    def balanced(_processes: int) -> Iterator[Any]:
        yield SimpleNamespace(port=port, ports=[port], wait=lambda: None)

    @contextmanager
    def chromium() -> Iterator[Chromium]:
        yield Chromium(browser)

    @contextmanager
    def other_browser() -> Iterator[Firefox]:
        page = Chromium(browser).new_page()
        page.add_init_script(f"({firefox.REFUSALS})()")
        yield Firefox(page)
        page.close()

    module = first_step.commands()[name]
    tools = {
        **dict.fromkeys(("served", "running"), serving),
        "headlight_app": lambda log: serving(log=log),
        "balanced": balanced,
        "chromium": chromium,
        "firefox": other_browser,
    }
    for tool, stand_in in tools.items():
        if hasattr(module, tool):
            monkeypatch.setattr(module, tool, stand_in)
    monkeypatch.setenv(menu.CHECKPOINT_VARIABLE, str(trained_folder))
    monkeypatch.chdir(tmp_path)
    step = partial(first_step.take, name, STEPS[name], monkeypatch, str(trained_folder))
    if hasattr(module, "chromium") or hasattr(module, "firefox"):
        step()
    else:  # an event loop of its own, which is not that of the browser
        with ThreadPoolExecutor(1) as thread:
            thread.submit(step).result()
