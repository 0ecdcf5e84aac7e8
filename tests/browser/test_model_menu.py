"""A model is chosen in the bar: it translates, its maps are drawn, and the link holds it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.app_page import expect_german, expect_map, no_traceback, said, until, url
from tests.transformer.checkpoints.marian import marian_folder
from transformer import Translator
from viz.draw.labels import quoted

if TYPE_CHECKING:
    from playwright.sync_api import Page

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
expect.set_options(timeout=45_000)  # ms; a training run may hold both cores

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

SENTENCE = "The old cat sleeps."
NAME = "opus-mt-en-many"


@pytest.fixture(scope="module")
def many(models_folder: Path) -> Iterator[Translator]:
    """The model of several languages beside the small trained one; and one that is damaged."""
    folder = marian_folder.write(models_folder / NAME, codes=(">>fra<<", ">>spa<<"), max_length=24)
    stated = {"source_lang": "eng", "target_lang": "roa"}
    (folder / "tokenizer_config.json").write_text(json.dumps(stated))
    damaged = models_folder / "damaged"
    damaged.mkdir()
    (damaged / "model.safetensors").write_text("none")
    yield Translator.load(folder)
    for path in (*folder.iterdir(), *damaged.iterdir()):
        path.unlink()
    folder.rmdir()
    damaged.rmdir()


def pick(page: Page, menu: str, name: str) -> None:
    page.get_by_role("combobox", name=menu).click()
    page.get_by_role("option", name=name, exact=True).click()


def label(page: Page):
    return page.locator(".st-key-translation-label")


def expect_translated(page: Page, model: Translator, text: str) -> None:
    """Translation, address, box and map are those of this model and text."""
    found = model.translate(text)
    expect_german(page, found.text)
    trace = model.trace_of(found)
    expect_map(page, "heads-map", trace.cross[0, 1], trace.labels("cross"))
    until(page, lambda: url(page).get("text"), text)
    expect(page.get_by_label("English")).to_have_value(text)


HEAD = {"kind": "cross", "layer": "1", "head": "2"}


def test_a_model_is_chosen_asked_for_a_language_reloaded_and_left_by_back(
    many: Translator, visit: Callable[..., Page], translator: Translator
) -> None:
    page = visit("heads", text=SENTENCE, **HEAD)
    expect_translated(page, translator, SENTENCE)
    pick(page, "Model", NAME)
    expect_translated(page, many, SENTENCE)
    assert url(page)["model"] == NAME
    expect(label(page)).to_have_text("Target")
    expect(said(page)).to_contain_text("was not told which one")
    # the menu of languages writes into the text, and what is typed there moves the menu
    pick(page, "Into", "French (fra)")
    expect_translated(page, many, f">>fra<< {SENTENCE}")
    expect(label(page)).to_have_text("French")
    page.get_by_label("English").fill(f">>spa<< {SENTENCE}")
    expect_translated(page, many, f">>spa<< {SENTENCE}")
    expect(label(page)).to_have_text("Spanish")
    expect(page.get_by_role("combobox", name="Into")).to_have_value("Spanish (spa)")
    page.reload()  # a new session, as for who is sent the link
    expect_translated(page, many, f">>spa<< {SENTENCE}")
    expect(page.get_by_role("combobox", name="Model")).to_have_value(NAME)
    # another page has the same model
    page.get_by_role("link", name="Masks", exact=True).click()
    page.get_by_role("heading", name="Masks", level=1).wait_for()
    expect_german(page, many.translate(f">>spa<< {SENTENCE}").text)
    until(page, lambda: url(page).get("model"), NAME)
    for text in (f">>spa<< {SENTENCE}", f">>fra<< {SENTENCE}", SENTENCE):
        page.go_back()
        expect_translated(page, many, text)
    page.go_back()
    expect_translated(page, translator, SENTENCE)
    assert "model" not in url(page)
    no_traceback(page)


def test_what_is_gone_or_damaged_gets_one_sentence_and_the_bar_lives(
    many: Translator, tab: Callable[..., Page], translator: Translator
) -> None:
    page = tab("heads", text=SENTENCE, model="gone", **HEAD)
    expect_translated(page, translator, SENTENCE)
    expect(said(page)).to_contain_text(f"There is no model {quoted('gone')} on this server")
    pick(page, "Model", "damaged")
    expect(page.locator(".st-key-problem")).to_contain_text("MANIFEST.json is missing.")
    pick(page, "Model", NAME)
    expect_translated(page, many, SENTENCE)
    no_traceback(page)
