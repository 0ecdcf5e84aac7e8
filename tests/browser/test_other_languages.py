"""The app on a MarianMT folder from French to Finnish: nothing on a page says English or German."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from tests.browser.app_page import PATIENCE, enter, no_traceback
from tests.transformer.checkpoints.marian import marian_folder
from viz.app.links.navigation import TITLES
from viz.app.links.role_views import ROLES, VIEW
from viz.pages.architecture import PARAMETERS
from viz.pages.architecture.drawing import NORMS
from viz.pages.architecture.drawing import VIEW as ARCHITECTURE
from viz.pages.masks import VIEW as MASKS
from viz.pages.masks import WITHOUT_MASK
from viz.pages.positions import VIEW as POSITIONS
from viz.pages.roles import VIEWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

TEXT = "Le chat dort sous la table."
BY_HAND = "Le chat dort."  # in pieces that the folder has
WRONG = re.compile("English|German")

VIEWS_OF: dict[str, list[dict[str, str]]] = {path: [{}] for path in TITLES}
VIEWS_OF["translate"] += [{"edited": BY_HAND, "versus": "greedy search"}]
VIEWS_OF["heads"] += [
    {"kind": "encoder", "view": "compare", "with": "another sentence"},
    {"kind": "decoder"},
]
VIEWS_OF["inside"] += [{"kind": "encoder"}]
VIEWS_OF["roles"] += [{VIEW: name} for name in VIEWS if name != ROLES]
VIEWS_OF["masks"] += [{"kind": "encoder"}, {"kind": "cross"}, {MASKS: WITHOUT_MASK}]
VIEWS_OF["positions"] += [{POSITIONS: "Without"}]
VIEWS_OF["architecture"] += [
    *({ARCHITECTURE: view} for view in (PARAMETERS, NORMS, "tables 2 and 3")),
    *(
        {"arch_box": heading}
        for heading in ("Embedding of the decoder", "Cross-attention of the decoder")
    ),
]
"""Pages, and those of their views that speak of languages."""

# seldom the same page twice in a row, which `enter` leaves first
PLACES = [
    (path, views[n])
    for n in range(max(map(len, VIEWS_OF.values())))
    for path, views in VIEWS_OF.items()
    if n < len(views)
]

OF_OUR_RUNS = frozenset({"training"})
"""Pages that draw a training run of the repository, whose sentences are English and German."""

# all that is read or heard, in shadow roots as well: text, names and what stands in empty fields
SAID = """() => {
    const said = [document.title, ...window.words.map(({ text }) => text)];
    window.words.length = 0;
    const gather = (root) => {
        for (const node of root.querySelectorAll("*")) {
            if (["SCRIPT", "STYLE", "TITLE"].includes(node.tagName)) continue;
            for (const child of node.childNodes) if (child.nodeType === 3) said.push(child.data);
            for (const name of ["aria-label", "aria-description", "title", "alt", "placeholder"]) {
                if (node.hasAttribute(name)) said.push(node.getAttribute(name));
            }
            if (node.shadowRoot) gather(node.shadowRoot);
        }
    };
    gather(document.body);
    return said;
}"""
LANGUAGES = """() => [".st-key-text textarea", ".st-key-translation"].map((place) => {
    const { lang, dir } = document.querySelector(place);
    return [lang, dir];
})"""


@pytest.fixture(scope="module")
def page(
    browser: Browser, serve_app: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> Page:
    """A tab of the app on the folder, not yet at a page."""
    folder = marian_folder.write(
        tmp_path_factory.mktemp("marian"), separate=True, languages=("fra", "fin")
    )
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.set_default_timeout(PATIENCE)
    tab.goto(serve_app(str(folder)))
    return tab


def go(page: Page, path: str, **url: str) -> None:
    """Open a view, and wait until all of it is drawn."""
    server = page.evaluate("location.origin")
    path = "" if path == "translate" else path  # it is the first
    enter(page, f"{server}/{path}?{urlencode({'text': TEXT, **url})}")
    page.locator(".st-key-explanation").last.wait_for()


def test_no_page_says_english_or_german(page: Page) -> None:
    wrong: dict[str, list[str]] = {}
    seen: set[str] = set()
    for path, url in PLACES:
        go(page, path, **url)
        no_traceback(page)
        assert page.locator("[data-testid=stAlert]").count() == 0
        said = page.evaluate(SAID)
        seen |= {word for word in ("French", "Finnish") if word in " ".join(said)}
        if path not in OF_OUR_RUNS and (found := [text for text in said if WRONG.search(text)]):
            wrong[f"{path} {url}"] = found
    assert not wrong
    assert seen == {"French", "Finnish"}


def test_both_lines_are_marked_with_their_languages(page: Page) -> None:
    go(page, "heads")
    assert page.evaluate(LANGUAGES) == [["fr", "auto"], ["fi", "auto"]]
    go(page, "translate")
    field = page.locator(".hl-editor-field")
    assert [field.get_attribute(name) for name in ("lang", "dir")] == ["fi", "auto"]
    assert field.get_attribute("aria-label") == "Finnish, edited in place"
