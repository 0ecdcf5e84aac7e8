"""The German as an editor: it grows as it is found, is steered by clicks, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from tests.browser.app_page import (
    PATIENCE,
    SENTENCE,
    expect_german,
    expect_map,
    no_traceback,
    until,
    url,
)
from tests.browser.servers import APP, served
from transformer import Translator
from transformer.analysis.alignment_settings import read_alignment
from viz.app.models.menu import CHECKPOINT_VARIABLE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
expect.set_options(timeout=45_000)  # ms; a training run may hold both cores

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

# the app with a model that takes a tenth of a second for each step, and half of one for what is
# edited by hand
SLOWED = f"""
import functools
import time
import streamlit as st
from transformer.decoding import BeamSearch
from viz.app import served
from viz.app.cache import cached_results

def slowed(function, seconds):
    @functools.wraps(function)
    def slow(*arguments, **named):
        time.sleep(seconds)
        return function(*arguments, **named)
    return slow

BeamSearch.step = slowed(BeamSearch.step, 0.1)
cached_results.score = slowed(cached_results.score, 0.25)
app = st.App({str(APP)!r}, routes=served.routes(), lifespan=served.imports_exempt)
"""
# what a reader sees of the German line and where the editor stands, each time that it changes
WATCH = """() => {
    window.seen = [];
    const look = () => {
        const line = document.querySelector(".st-key-translation");
        const editor = document.querySelector(".st-key-translate-editor");
        if (!line?.textContent || !editor) return;
        const place = editor.getBoundingClientRect();
        const parts = ["settled", "tentative"].map((name) =>
            line.querySelector(`.headlight-${name}`)?.textContent ?? null);
        const now = [...parts, line.textContent, Math.round(place.top), Math.round(place.height)];
        if (`${now}` !== `${window.seen.at(-1)}`) window.seen.push(now);
        requestAnimationFrame(look);
    };
    look();
}"""
REST = 800  # ms; an outdated search would have ended by then


@pytest.fixture(scope="module")
def slowed(tmp_path_factory: pytest.TempPathFactory, trained_folder: Path) -> Iterator[str]:
    """The app of `SLOWED`."""
    folder = tmp_path_factory.mktemp("slowed")
    script, log = folder / "slowed.py", folder / "server.log"
    script.write_text(SLOWED, encoding="utf-8")
    with served(script, log, {CHECKPOINT_VARIABLE: str(trained_folder)}) as address:
        yield address
    assert "Traceback" not in log.read_text("utf-8")


@pytest.fixture
def opened(browser: Browser, slowed: str) -> Iterator[Page]:
    """The app at the sentence, its pictures drawn."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(PATIENCE)
    page.goto(f"{slowed}/?{urlencode({'text': SENTENCE})}")
    page.locator(".st-key-translate-map canvas").first.wait_for()
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    yield page
    no_traceback(page)
    page.close()


def editor(page: Page) -> Any:
    return page.locator(".st-key-translate-editor .hl-editor-field")


def test_german_appears_as_it_is_found_and_an_outdated_search_says_nothing_more(
    opened: Page, translator: Translator
) -> None:
    page, box = opened, opened.get_by_label("English")
    page.evaluate(WATCH)
    box.click()
    page.keyboard.press("Control+A")
    typed = "The baker sings in the old garden."
    for number, letter in enumerate(typed):
        page.keyboard.type(letter)
        # pauses in which a search begins, and is outdated by the next letter
        page.wait_for_timeout(500 if number % 9 == 8 else 30)
    wanted = translator.translate(typed).text
    expect_german(page, wanted)
    expect(editor(page)).to_have_value(wanted)
    expect(box).to_have_value(typed)
    expect(box).to_be_focused()
    page.wait_for_timeout(REST)
    seen = page.evaluate("() => window.seen")
    done = [n for n, (_, _, text, _, _) in enumerate(seen) if text == wanted]
    assert done == [len(seen) - 1]
    grown = [settled + tentative for settled, tentative, *_ in seen if settled is not None]
    assert len(set(grown)) > 3
    # the last search grew into what it found, and nothing moved the editor meanwhile
    assert wanted.startswith(seen[-2][0])
    assert len({(top, height) for *_, top, height in seen}) == 1


def test_a_node_is_forced_undone_redone_and_sent_on(
    opened: Page, translator: Translator, browser: Browser, slowed: str
) -> None:
    page = opened
    own = translator.translate(SENTENCE, tree=True)
    expect_german(page, own.text)
    tree = page.locator(".st-key-translate-tree .hl-scroll")
    tree.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    until(page, lambda: len(url(page).get("prefix", "").split()), 2)
    prefix = url(page)["prefix"].split()
    steered = translator.translate(SENTENCE, prefix=prefix)
    assert steered.text != own.text
    for _ in range(2):
        expect_german(page, steered.text)
        trace = translator.trace_of(steered)
        layer = read_alignment(translator).layer
        expect_map(page, "translate-map", trace.cross[layer].mean(0), trace.labels("cross"))
        expect(page.get_by_role("button", name="Undo")).to_be_enabled()
        page.keyboard.press("Control+z")  # the focus is in the picture, which has no text
        expect_german(page, own.text)
        assert "prefix" not in url(page)
        expect(page.get_by_role("button", name="Redo")).to_be_enabled()
        page.keyboard.press("Control+Shift+z")
    expect_german(page, steered.text)
    page.go_back()
    expect_german(page, own.text)
    page.go_forward()
    expect_german(page, steered.text)
    sent = browser.new_page(viewport={"width": 1280, "height": 1000})
    sent.goto(page.url)
    expect_german(sent, steered.text)
    expect(sent.get_by_role("button", name="Release")).to_be_visible()
    sent.close()


def test_the_german_is_edited_in_place_without_losing_a_letter_or_the_focus(
    opened: Page, translator: Translator
) -> None:
    page, field = opened, editor(opened)
    field.click()
    page.keyboard.press("Control+A")
    typed = "Die alte Katze frisst im Garten."
    for number, letter in enumerate(typed, 1):
        page.keyboard.type(letter)
        page.wait_for_timeout(450 if number % 8 == 0 else 40)
        assert field.input_value() == typed[:number]
    expect_german(page, typed)
    trace = translator.trace(SENTENCE, typed)
    layer = read_alignment(translator).layer
    expect_map(page, "translate-map", trace.cross[layer].mean(0), trace.labels("cross"))
    assert field.input_value() == typed
    assert field.evaluate("e => e.getRootNode().activeElement === e && e.selectionStart") == len(
        typed
    )
    # in the field Ctrl+Z is the field's own
    page.keyboard.press("Control+z")
    until(page, lambda: typed.startswith(field.input_value()), True)
    assert field.input_value() != typed
    expect_german(page, field.input_value())
    page.get_by_role("button", name="Release").click()
    own = translator.translate(SENTENCE).text
    expect(field).to_have_value(own)
    page.reload()
    expect(editor(page)).to_have_value(own)
