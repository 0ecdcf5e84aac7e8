"""Fixtures of all browser tests: a Chromium, and Streamlit scripts served on free ports."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from tests.browser import app_page, offline, spy
from tests.browser.servers import APP, SCRIPTS, SLOW_VARIABLE, served
from tests.kit import QUIET
from tests.viz.trained_model import trained_folder
from transformer import Translator
from viz.app.lessons import library
from viz.app.models.menu import CHECKPOINT_VARIABLE, MODELS_VARIABLE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

__all__ = ["trained_folder"]  # a fixture: used by name

# the machine's other core belongs to another worker
ONE_THREAD = ["--num-raster-threads=1", "--disable-site-isolation-trials"]
# all tabs of a context: starting a process costs more than most tests do
ONE_PROCESS = ["--renderer-process-limit=1"]
# no test runs a script for so long that its optimisation pays
UNOPTIMISED = ["--js-flags=--no-opt"]
CLIPBOARD = ["clipboard-read", "clipboard-write"]


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Path of Chromium; without one the test is skipped, or fails where it must not be missing."""
    named = os.environ.get("HEADLIGHT_CHROMIUM", "")
    for name in (named, "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if name and (path := shutil.which(name)):
            return path
    message = "no Chromium on this machine (set HEADLIGHT_CHROMIUM to its path)"
    if os.environ.get("HEADLIGHT_REQUIRE_BROWSER") == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.fixture(scope="session")
def refusals() -> list[str]:
    """All that the app's Content-Security-Policy refused to a page."""
    return []


@pytest.fixture(autouse=True)
def _nothing_is_refused(refusals: list[str]) -> Iterator[None]:
    yield
    late, refusals[:] = [*refusals], []
    assert late == []


@pytest.fixture(scope="session")
def browser(chromium_path: str, refusals: list[str]) -> Iterator[Browser]:
    """One browser for all; each test opens its own page, with a spy: `browser.new_page(…)`.

    Pages that are opened with the same options share a context, and so Streamlit's scripts, which
    each further context would load and compile anew. They share a process too, which an empty tab
    keeps alive from one test to the next.
    """
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=chromium_path, args=[*QUIET, *ONE_THREAD, *ONE_PROCESS, *UNOPTIMISED]
        )
        contexts: dict[str, BrowserContext] = {}

        def spied(*, viewport: ViewportSize | None = None, **options: Any) -> Page:
            name = repr(sorted(options.items()))
            if name not in contexts:
                defaults = {"reduced_motion": "reduce", "permissions": CLIPBOARD}
                contexts[name] = chromium.new_context(**{**defaults, **options})
                contexts[name].expose_function("refused", lambda text: refusals.append(text))
                contexts[name].add_init_script(spy.SPY)
                contexts[name].new_page()
            page = contexts[name].new_page()
            page.set_viewport_size(viewport or {"width": 1280, "height": 720})
            return page

        chromium.new_page = spied
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of models of every served app, which a test may fill."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def lessons_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of lessons of every served app, which a test may fill."""
    return tmp_path_factory.mktemp("lessons")


@pytest.fixture(scope="session")
def slow_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """While this file exists, each step of the small model takes longer."""
    return tmp_path_factory.mktemp("slow") / "slow"


@pytest.fixture(scope="session")
def logged_app(
    tmp_path_factory: pytest.TempPathFactory,
    trained_folder: Path,
    models_folder: Path,
    lessons_folder: Path,
    slow_file: Path,
) -> Iterator[tuple[str, Path]]:
    """Address of the app on the tests' small model, for all modules, and its log."""
    log = tmp_path_factory.mktemp("app") / "server.log"
    env = {
        CHECKPOINT_VARIABLE: str(trained_folder),
        MODELS_VARIABLE: str(models_folder),
        library.LESSONS_VARIABLE: str(lessons_folder),
        SLOW_VARIABLE: str(slow_file),
    }
    with served(SCRIPTS / "slow_app.py", log, env) as address:
        yield address, log
    written = log.read_text("utf-8")
    assert "Traceback" not in written
    assert "default value" not in written  # of a widget that a click elsewhere set, as it should


@pytest.fixture(scope="session")
def address(logged_app: tuple[str, Path]) -> str:
    """Address of the app on the tests' small model."""
    return logged_app[0]


@pytest.fixture(scope="session")
def bundled_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the app on the bundled models."""
    folder = tmp_path_factory.mktemp("app")
    log = folder / "server.log"
    own = dict.fromkeys([MODELS_VARIABLE, library.LESSONS_VARIABLE], str(folder))
    with served(APP, log, {CHECKPOINT_VARIABLE: "", **own}) as address:
        yield address
    assert "Traceback" not in log.read_text("utf-8")


@pytest.fixture(scope="session")
def parts_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the scripts that each show a part of the app; their log stays clean."""
    log = tmp_path_factory.mktemp("parts") / "server.log"
    with served(SCRIPTS / "parts.py", log, {}) as address:
        yield address
    assert "Traceback" not in log.read_text("utf-8")


@pytest.fixture(scope="session")
def translator(trained_folder: Path) -> Translator:
    """The small model of the served app."""
    return Translator.load(trained_folder)


@pytest.fixture(scope="session")
def shared(browser: Browser) -> Page:
    """One tab for all tests that do not need a fresh one: a page load is the dear part."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(app_page.PATIENCE)
    return page


@pytest.fixture
def visit(shared: Page, address: str) -> Callable[..., Page]:
    """Go to a page of the app at a URL in the session that is there: no script is loaded again.

    What was chosen in it before comes along where a link of the app is followed, and nowhere else.
    """

    def open_(path: str = "", **url: str) -> Page:
        app_page.enter(shared, f"{address}/{path}?{urlencode(url)}")
        return shared

    return open_


@pytest.fixture(scope="session")
def _bare_tab(browser: Browser) -> Page:
    return browser.new_page(offline=True)


@pytest.fixture
def still(_bare_tab: Page) -> Iterator[Callable[..., offline.Still]]:
    """Show a component, given as its bytes, on a page without a server."""
    opened: list[offline.Still] = []

    def show(content: bytes, **options: Any) -> offline.Still:
        opened.append(offline.Still(_bare_tab, content, **options))
        return opened[-1]

    yield show
    assert [fault for page in opened for fault in page.faults] == []
