"""The sentence bar in a real browser: typed, by keyboard, and with another model."""

import json
import shutil

import pytest

from tests.browser import app_page
from tests.transformer.checkpoints.marian import marian_folder
from transformer import Translator
from viz.app.sentence.source_box import EXAMPLES

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

NOTICES = ".st-key-notices"
HOSTILE = "**bold** <b>x</b> $x$ :smile: [a](b) # h"


def test_any_text_is_text(visit, translator):
    page = visit()
    for text in (HOSTILE, "a\x07b\x1b[31m \u202eabc"):
        page.get_by_label("English").fill(text)
        app_page.expect_player(page, translator.trace(text))
        app_page.no_traceback(page)
        markup = ".katex, strong, em, a, h1, img, b, code"
        assert page.locator(".st-key-sentence-bar").locator(markup).count() == 0
        for name in ("x", "a", "bold"):
            assert page.locator(f"b:text-is('{name}'), a:text-is('{name}')").count() == 0


# what has the focus, in a component too: its name
FOCUSED = """() => {
    let node = document.activeElement;
    while (node.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
    return node === document.body ? "" : node.ariaLabel || node.labels?.[0]?.innerText
        || node.innerText;
}"""
# its ring: style, width, and the contrast with the page
RING = """() => {
    const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
    const style = getComputedStyle(document.activeElement);
    const ground = numbers(getComputedStyle(document.querySelector(".stApp")).backgroundColor);
    const [r, g, b, alpha = 1] = numbers(style.outlineColor);
    const ink = [r, g, b].map((part, n) => alpha * part + (1 - alpha) * ground[n]);
    const light = (color) => color.slice(0, 3).map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, n) => sum + part * [0.2126, 0.7152, 0.0722][n], 0);
    const [dark, bright] = [light(ink), light(ground)].sort((a, b) => a - b);
    return [style.outlineStyle, style.outlineWidth, (bright + 0.05) / (dark + 0.05)];
}"""


def focused(page):
    name: str = page.evaluate(FOCUSED)
    return name


def test_the_focus_outlives_a_control_and_enters_and_leaves_a_popover(visit, translator):
    page = visit("heads", text=app_page.SENTENCE, kind="cross-attention", layer="2", head="1")
    page.locator(".st-key-heads-map .hl canvas").first.wait_for()

    def stays(name):
        app_page.at_rest(page)
        assert focused(page) == name

    page.get_by_role("radio", name="decoder").focus()
    page.keyboard.press("Space")
    app_page.at_rest(page)
    assert page.get_by_role("radio", name="decoder").evaluate("e => e === document.activeElement")
    page.get_by_role("combobox", name="Layer", exact=True).press("ArrowUp")
    page.keyboard.press("Enter")
    stays("Layer")
    page.get_by_role("gridcell", name="decoder, layer 1, head 2").press("Enter")
    stays("decoder, layer 1, head 2")

    more = page.get_by_role("button", name="Options", exact=True)
    more.press("Enter")
    popover = page.locator("[data-testid=stPopoverBody]")
    popover.get_by_text("Hide weights below").first.wait_for()
    inside = "node => node.contains(document.activeElement)"
    page.keyboard.press("Tab")
    assert popover.evaluate(inside)
    page.keyboard.press("Shift+Tab")
    assert more.evaluate(inside)
    reached = 0
    page.keyboard.press("Tab")
    while popover.count() and popover.evaluate(inside) and reached < 30:
        reached += 1
        page.keyboard.press("Tab")
    assert 4 < reached < 30
    popover.wait_for(state="hidden")
    assert not more.evaluate(inside)
    # a group is one stop, at what is chosen
    page.get_by_role("combobox", name="Layer", exact=True).focus()
    page.keyboard.press("Shift+Tab")
    assert page.get_by_role("radio", name="decoder").evaluate("e => e === document.activeElement")
    page.keyboard.press("Shift+Tab")
    assert focused(page) != "encoder"

    # after an example the focus is in the sentence
    example = EXAMPLES["English"][1]
    page.get_by_role("button", name="Examples").press("Enter")
    page.get_by_role("menuitem", name=example).press("Enter")
    app_page.expect_german(page, translator.translate(example).text)
    app_page.until(page, page.get_by_label("English").input_value, example)
    app_page.until(page, lambda: app_page.url(page).get("text"), example)
    app_page.at_rest(page)
    assert page.get_by_label("English").evaluate("box => box === document.activeElement")


def test_the_focus_is_seen_and_stays_at_the_ends_of_the_walk(visit):
    page = visit("masks", text=app_page.SENTENCE)
    controls = (("link", "Translate"), ("button", "Examples"), ("radio", "decoder"))
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        app_page.until(page, lambda: page.evaluate(app_page.THEME), theme)
        for role, name in controls:
            page.get_by_role(role, name=name, exact=True).first.focus()
            page.keyboard.press("Shift+Tab")
            page.keyboard.press("Tab")  # a key was the last that moved it
            style, width, contrast = page.evaluate(RING)
            assert (style, width) == ("solid", "2px"), (theme, role, name)
            assert contrast >= 3, (theme, role, name)
    page = visit("inside", text=app_page.SENTENCE, at="8")
    page.get_by_role("button", name="One step on", exact=True).press("Enter")
    app_page.at_rest(page)
    assert focused(page) == "One step on"


SHORT = "The old cat sleeps."
NAME = "opus-mt-en-many"


@pytest.fixture(scope="module")
def many(models_folder):
    """The model of several languages beside the small trained one."""
    folder = marian_folder.write(models_folder / NAME, codes=(">>fra<<", ">>spa<<"), max_length=24)
    stated = {"source_lang": "eng", "target_lang": "roa"}
    (folder / "tokenizer_config.json").write_text(json.dumps(stated))
    yield Translator.load(folder)
    shutil.rmtree(folder)


def expect_translated(page, model, text):
    """Translation, address, box and map are those of this model and text."""
    translation = model.translate(text)
    app_page.expect_german(page, translation.text)
    trace = model.trace_of(translation)
    app_page.expect_map(page, "heads-map", trace.cross[0, 1], trace.labels("cross"))
    app_page.until(page, lambda: app_page.url(page).get("text"), text)
    app_page.expect(page.get_by_label("English")).to_have_value(text)


HEAD = {"kind": "cross-attention", "layer": "1", "head": "2"}


def test_a_model_is_chosen_asked_for_a_language_and_left_by_back(many, visit, translator):
    page = visit("heads", text=SHORT, **HEAD)
    label = page.locator(".st-key-translation-label")
    expect_translated(page, translator, SHORT)
    app_page.choose(page, "Model", NAME)
    expect_translated(page, many, SHORT)
    assert app_page.url(page)["model"] == NAME
    app_page.expect(label).to_have_text("Target")
    app_page.expect(page.locator(NOTICES)).to_contain_text("was not told which one")
    # the menu of languages writes into the text, and what is typed there moves the menu
    app_page.choose(page, "Into", "French (fra)")
    expect_translated(page, many, f">>fra<< {SHORT}")
    app_page.expect(label).to_have_text("French")
    for line, language in ((page.get_by_label("English"), "en"), (app_page.german(page), "fr")):
        assert [line.get_attribute(name) for name in ("lang", "dir")] == [language, "auto"]
    page.get_by_label("English").fill(f">>spa<< {SHORT}")
    expect_translated(page, many, f">>spa<< {SHORT}")
    app_page.expect(label).to_have_text("Spanish")
    app_page.expect(page.get_by_role("combobox", name="Into")).to_have_value("Spanish (spa)")
    page.go_back()
    expect_translated(page, many, f">>fra<< {SHORT}")
    page.evaluate("history.go(-2)")
    expect_translated(page, translator, SHORT)
    assert "model" not in app_page.url(page)
    app_page.no_traceback(page)
