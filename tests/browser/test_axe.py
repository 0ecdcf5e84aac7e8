"""No page, served or saved, has a serious fault of accessibility, by axe-core, in both themes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

import pytest

from tests.browser.app_page import SENTENCE, enter, until
from tests.viz.planted_trace import many, planted
from viz.app.links.navigation import TITLES
from viz.app.links.role_views import ROLES, VIEW
from viz.lines import lines_report
from viz.pages.roles.page import VIEWS
from viz.report import report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")
WAYS: tuple[tuple[int, Literal["light", "dark"]], ...] = (
    (1440, "light"),
    (390, "dark"),
)
EVERY: list[tuple[str, dict[str, str]]] = [
    ("", {}),  # the address at which the first page stays
    *((path, {}) for path in TITLES if path != "translate"),
    *(("roles", {VIEW: name}) for name in VIEWS if name != ROLES),
]
# a rule says how serious its faults are; what is not serious enough is not looked for
RUN = """async (serious) => (await axe.run(document, { resultTypes: ["violations"],
    preload: false, iframes: false,
    rules: Object.fromEntries(axe._audit.rules
        .filter(({ impact }) => impact && !serious.includes(impact))
        .map(({ id }) => [id, { enabled: false }])) })).violations
    .map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(
        ({ target, failureSummary }) => [String(target), failureSummary]) }))"""


@pytest.fixture(scope="module")
def axe() -> str:
    if AXE.is_file():
        return AXE.read_text("utf-8")
    message = "axe-core is not installed (npm ci)"
    if os.environ.get("HEADLIGHT_REQUIRE_NODE") == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def faults(page: Page, axe: str) -> list[dict[str, Any]]:
    """What is serious on a page as it stands."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
    found: list[dict[str, Any]] = page.evaluate(RUN, SERIOUS)
    return [one for one in found if one["impact"] in SERIOUS]


@pytest.fixture
def resized(shared: Page) -> Iterator[Page]:
    """The shared tab, which gets its width and its theme back."""
    yield shared
    shared.set_viewport_size({"width": 1280, "height": 900})
    shared.emulate_media(color_scheme="light")


@pytest.mark.parametrize(
    ("path", "view"), EVERY, ids=["-".join((path, *view.values())) for path, view in EVERY]
)
def test_no_page_has_a_serious_fault(
    resized: Page, address: str, axe: str, path: str, view: dict[str, str]
) -> None:
    theme = "getComputedStyle(document.querySelector('.stApp')).colorScheme"
    found: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    enter(resized, f"{address}/{path}?{urlencode({'text': SENTENCE, **view})}")
    resized.locator(".st-key-explanation").wait_for()  # the last that a page draws
    # a page load is the dear part: all ways on one
    for wide, scheme in WAYS:
        resized.set_viewport_size({"width": wide, "height": 900})
        resized.emulate_media(color_scheme=scheme)
        until(resized, lambda: resized.evaluate(theme), scheme)
        if serious := faults(resized, axe):
            found[wide, scheme] = serious
    assert not found, told(found)


def test_no_saved_page_has_a_serious_fault(browser: Browser, tmp_path: Path, axe: str) -> None:
    page = browser.new_page()
    found: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for name, text in (("report", report(planted())), ("lines", lines_report(many()))):
        path = tmp_path / f"{name}.html"
        path.write_text(text, "utf-8")
        for wide, scheme in WAYS:
            page.set_viewport_size({"width": wide, "height": 900})
            page.emulate_media(color_scheme=scheme)
            page.goto(path.as_uri())
            page.locator("[role=gridcell]").first.wait_for()
            if serious := faults(page, axe):
                found[name, wide, scheme] = serious
    page.close()
    assert not found, told(found)


def told(found: Mapping[tuple[object, ...], list[dict[str, Any]]]) -> str:
    """What was found, by where it was."""
    return "\n".join(f"{at}: {json.dumps(one, indent=1)}" for at, one in found.items())
