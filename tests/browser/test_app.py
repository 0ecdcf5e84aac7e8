"""The app in a real browser: what a person types, sees, clicks and sends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.app_page import (
    SENTENCE,
    expect_german,
    expect_map,
    german,
    no_traceback,
    said,
    until,
    url,
)
from transformer import Translator
from transformer.analysis.alignment_settings import read_alignment
from viz.app.sentence.source_box import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
expect.set_options(timeout=45_000)  # ms; a training run may hold both cores

pytestmark = pytest.mark.browser

HOSTILE = "**bold** <b>x</b> $x$ :smile: [a](b) # h"


def test_opens_with_a_translation_and_its_map(tab, translator: Translator) -> None:
    page = tab()
    trace = translator.trace(EXAMPLES[0])
    expect_german(page, trace.target)
    layer = read_alignment(translator).layer
    expect_map(page, "translate-map", trace.cross[layer].mean(0), trace.labels("cross"))
    title = f"Layer {layer + 1} · mean of its 4 heads"
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    no_traceback(page)


def test_a_visit_ends_when_the_page_of_its_address_is_drawn(
    visit: Callable[..., Page], translator: Translator
) -> None:
    visit("heads", text=SENTENCE)
    for text in (EXAMPLES[1], EXAMPLES[2]):
        page = visit("masks", text=text)
        assert german(page).text_content() == translator.translate(text).text


def test_the_translation_follows_the_typing(visit, translator: Translator) -> None:
    page = visit()
    box = page.get_by_label("English")
    expect(german(page)).not_to_be_empty()
    box.click()
    page.keyboard.press("Control+A")
    for number, letter in enumerate(SENTENCE):
        page.keyboard.type(letter)
        # now and then a pause that is long enough for an answer to come in between
        page.wait_for_timeout(400 if number % 12 == 11 else 20)
    trace = translator.trace(SENTENCE)
    expect_german(page, trace.target)  # no Enter, no click elsewhere
    expect(box).to_have_value(SENTENCE)
    expect(box).to_be_focused()
    layer = read_alignment(translator).layer
    expect_map(page, "translate-map", trace.cross[layer].mean(0), trace.labels("cross"))
    # in the middle of the text, the cursor stays where it is
    page.keyboard.press("Home")
    for letter in "Now ":
        page.keyboard.type(letter)
        page.wait_for_timeout(350)
    expect_german(page, translator.translate(f"Now {SENTENCE}").text)
    assert box.evaluate("box => box.selectionStart") == 4
    expect(box).to_have_value(f"Now {SENTENCE}")


def test_sentence_and_choice_outlive_page_and_reload(tab, translator: Translator) -> None:
    page = tab()
    page.get_by_label("English").fill(SENTENCE)
    trace = translator.trace(SENTENCE)
    expect_german(page, trace.target)
    page.get_by_role("link", name="Heads", exact=True).click()
    expect(page.get_by_label("English")).to_have_value(SENTENCE)
    page.get_by_role("radio", name="encoder").click()
    page.get_by_role("gridcell", name="encoder, layer 1, head 3").click()
    for reloaded in (False, True):
        if reloaded:
            page.reload()
        expect_map(page, "heads-map", trace.encoder_self[0, 2], trace.labels("encoder_self"))
        expect_german(page, trace.target)
        wanted = {"text": SENTENCE, "kind": "encoder", "layer": "1", "head": "3"}
        until(page, lambda: url(page), wanted)
    page.get_by_role("link", name="Translate").click()
    expect(page.get_by_label("English")).to_have_value(SENTENCE)
    layer = read_alignment(translator).layer
    expect_map(page, "translate-map", trace.cross[layer].mean(0), trace.labels("cross"))
    until(page, lambda: url(page), {"text": SENTENCE})
    # there the head is still the chosen one
    page.get_by_role("link", name="Heads", exact=True).click()
    expect_map(page, "heads-map", trace.encoder_self[0, 2], trace.labels("encoder_self"))


def test_nothing_typed_is_html_or_markdown(visit, translator: Translator) -> None:
    page = visit()
    expect(german(page)).not_to_be_empty()
    page.get_by_label("English").fill(HOSTILE)
    trace = translator.trace(HOSTILE)
    layer = read_alignment(translator).layer
    expect_map(page, "translate-map", trace.cross[layer].mean(0), trace.labels("cross"))
    notice = translator.translate(HOSTILE).notices[0]
    assert "“\u2068**" in notice
    expect(said(page)).to_contain_text(notice)
    made_of_it = ".katex, strong, em, a, h1, img, b, code"
    assert page.locator(".st-key-sentence-bar").locator(made_of_it).count() == 0
    for name in ("x", "a", "bold"):
        assert page.locator(f"b:text-is('{name}'), a:text-is('{name}')").count() == 0


def test_what_cannot_be_translated_gets_one_sentence(visit, translator: Translator) -> None:
    page = visit("heads")
    for text, sentence in (
        ("", "The text is empty: type an English sentence."),
        ("word " * 3_000, "pieces, but this model takes at most 255: shorten it."),
    ):
        page.locator(".st-key-heads-map .hl canvas").first.wait_for()
        page.get_by_label("English").fill(text)
        expect(page.locator(".st-key-problem")).to_contain_text(sentence)
        expect(page.locator(".st-key-heads-map")).to_have_count(0)  # no picture of another text
        assert len(page.evaluate("location.href")) < 10_000
        no_traceback(page)
        page.get_by_label("English").fill("The dog sings.")
        expect_german(page, translator.translate("The dog sings.").text)
        until(page, lambda: url(page), {"text": "The dog sings."})


def test_unknown_characters_are_named_and_the_rest_works(visit, translator: Translator) -> None:
    page = visit()
    expect(german(page)).not_to_be_empty()
    for text in ("🐶🎉", "مرحبا بالعالم", "a\x07b\x1b[31m c", "\u202eabc", "漢字"):
        page.get_by_label("English").fill(text)
        trace = translator.trace(text)
        layer = read_alignment(translator).layer
        expect_map(page, "translate-map", trace.cross[layer].mean(0), trace.labels("cross"))
        expect(said(page)).to_contain_text(translator.translate(text).notices[0])
        no_traceback(page)
