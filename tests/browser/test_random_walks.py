"""Random walks over the app end in no error box, no exception and no error on the console."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.walk import walks
from tests.browser.servers import APP, served
from viz.app.models.menu import CHECKPOINT_VARIABLE

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

SECONDS = 20.0
"""Length of the random walks of a seed."""


@pytest.fixture(scope="module")
def app(
    tmp_path_factory: pytest.TempPathFactory, trained_folder: Path
) -> Iterator[tuple[str, Path]]:
    """The app on the tests' small model, with its log."""
    log = tmp_path_factory.mktemp("walks") / "server.log"
    with served(APP, log, {CHECKPOINT_VARIABLE: str(trained_folder)}) as address:
        yield address, log


@pytest.mark.parametrize(("seed", "width"), [(1, 1280), (2, 390)])
def test_random_walks_end_in_no_error(browser, app, seed, width):
    end = time.monotonic() + SECONDS

    def new_page() -> Page:
        page: Page = browser.new_page(viewport={"width": width, "height": 900})
        return page

    address, log = app
    taken = list(walks(new_page, address, log, seed, end))
    assert [str(walk) for walk in taken if walk.faults] == []
    assert sum(len(walk.steps) for walk in taken) > 1
