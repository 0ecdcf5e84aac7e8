"""The app in a real browser: what a person types, sees, clicks and sends on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pandas as pd
import pytest

from tests.viz.taught import taught_folder
from transformer import Translator
from transformer.analysis.axes import by_words, without_special
from transformer.trace import KINDS, Labels
from viz.components.labels import shown
from viz.serving import CHECKPOINT_VARIABLE, EXAMPLES, aligning_layer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
expect.set_options(timeout=45_000)  # ms; a training run may hold both cores

__all__ = ["taught_folder"]  # a fixture: used by its name
pytestmark = pytest.mark.browser

APP = Path(__file__).parents[2] / "app.py"
PATIENCE = 45_000
HOSTILE = "**bold** <b>x</b> $x$ :smile: [a](b) # h"
SENTENCE = "The old cat sleeps under the table."


@pytest.fixture(scope="module")
def translator(taught_folder: Path) -> Translator:
    return Translator.load(taught_folder)


@pytest.fixture(scope="module")
def address(serve_streamlit, taught_folder: Path) -> str:
    return serve_streamlit(APP, env={CHECKPOINT_VARIABLE: str(taught_folder)})


@pytest.fixture(scope="module")
def shared(browser: Browser) -> Iterator[Page]:
    """One tab for all tests that do not need a fresh one: a page load is the dear part."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE)
    yield page
    page.close()


@pytest.fixture
def tab(shared: Page, address: str):
    """Open a page of the app at a URL."""

    def open_(path: str = "", **url: str) -> Page:
        shared.goto(f"{address}/{path}?{urlencode(url)}")
        return shared

    return open_


def german(page: Page):
    return page.locator(".st-key-translation")


def said(page: Page):
    return page.locator(".st-key-german")


def until(page: Page, read: Callable[[], Any], wanted: Any) -> None:
    """Wait for a reading that Playwright has no expectation for."""
    end = time.monotonic() + PATIENCE / 1000
    while (found := read()) != wanted and time.monotonic() < end:
        page.wait_for_timeout(50)
    assert found == wanted


def drawn(page: Page, key: str) -> dict[str, Any]:
    """What a map has on the screen now."""
    return page.locator(f".st-key-{key} .hl").evaluate(
        "e => ({...e.__headlight, weights: Array.from(e.__headlight?.weights ?? [])})"
    )


def in_grid(page: Page) -> tuple[dict[str, list[int]], list[Any]]:
    """The weights of each kind in the grid, one byte each, and the head that is outlined."""
    found = page.locator(".st-key-grid .hl").evaluate(
        "e => [e.__headlight.parts.map(p => [p.kind, [...p.weights]]), e.__headlight.selected]"
    )
    return dict(found[0]), found[1]


def expect_map(page: Page, key: str, weights: np.ndarray, labels: Labels) -> None:
    """The map comes to show these weights under these labels."""

    def read() -> tuple[list[str], list[str], bool]:
        found = drawn(page, key)
        there = np.array(found["weights"], np.float32)
        same = there.size == weights.size and np.allclose(there, weights.ravel(), atol=1e-5)
        return found.get("queries", []), found.get("keys", []), bool(same)

    until(page, read, (shown(labels.queries), shown(labels.keys), True))


def url(page: Page) -> dict[str, str]:
    query = parse_qs(urlsplit(page.evaluate("location.href")).query, keep_blank_values=True)
    return {name: values[-1] for name, values in query.items()}


def no_traceback(page: Page) -> None:
    assert page.locator("[data-testid=stException]").count() == 0
    assert "Traceback" not in page.locator("body").inner_text()


def test_opens_with_a_translation_and_its_map(tab, translator: Translator) -> None:
    page = tab()
    trace = translator.trace(EXAMPLES[0])
    expect(german(page)).to_have_text(trace.target)
    layer = aligning_layer(translator)
    expect_map(page, "translate-map", trace.cross[layer].mean(0), trace.labels("cross"))
    title = f"Layer {layer + 1} · mean of its 4 heads"
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    no_traceback(page)


def test_the_translation_follows_the_typing(tab, translator: Translator) -> None:
    page = tab()
    box = page.get_by_label("English")
    expect(german(page)).not_to_be_empty()
    box.click()
    page.keyboard.press("Control+A")
    for number, letter in enumerate(SENTENCE):
        page.keyboard.type(letter)
        # now and then a pause that is long enough for an answer to come in between
        page.wait_for_timeout(400 if number % 12 == 11 else 20)
    trace = translator.trace(SENTENCE)
    expect(german(page)).to_have_text(trace.target)  # no Enter, no click elsewhere
    expect(box).to_have_value(SENTENCE)
    expect(box).to_be_focused()
    layer = aligning_layer(translator)
    expect_map(page, "translate-map", trace.cross[layer].mean(0), trace.labels("cross"))
    # in the middle of the text, the cursor stays where it is
    page.keyboard.press("Home")
    for letter in "Now ":
        page.keyboard.type(letter)
        page.wait_for_timeout(350)
    expect(german(page)).to_have_text(translator.translate(f"Now {SENTENCE}").text)
    assert box.evaluate("box => box.selectionStart") == 4
    expect(box).to_have_value(f"Now {SENTENCE}")


def test_sentence_and_choice_outlive_page_and_reload(tab, translator: Translator) -> None:
    page = tab()
    page.get_by_label("English").fill(SENTENCE)
    trace = translator.trace(SENTENCE)
    expect(german(page)).to_have_text(trace.target)
    page.get_by_role("link", name="Heads").click()
    expect(page.get_by_label("English")).to_have_value(SENTENCE)
    page.get_by_role("radio", name="encoder").click()
    page.get_by_role("gridcell", name="encoder, layer 1, head 3").click()
    for _ in range(2):
        expect_map(page, "heads-map", trace.encoder_self[0, 2], trace.labels("encoder_self"))
        expect(german(page)).to_have_text(trace.target)
        wanted = {"text": SENTENCE, "kind": "encoder", "layer": "1", "head": "3"}
        until(page, lambda: url(page), wanted)
        page.reload()
    page.get_by_role("link", name="Translate").click()
    expect(page.get_by_label("English")).to_have_value(SENTENCE)
    layer = aligning_layer(translator)
    expect_map(page, "translate-map", trace.cross[layer].mean(0), trace.labels("cross"))
    until(page, lambda: url(page), {"text": SENTENCE})
    page.get_by_role("link", name="Heads").click()  # where the head is still the chosen one
    expect_map(page, "heads-map", trace.encoder_self[0, 2], trace.labels("encoder_self"))


def test_the_grid_shows_every_head_and_the_menus_follow_it(tab, translator: Translator) -> None:
    page = tab("heads", text=SENTENCE, kind="decoder", layer="2", head="2")
    trace = translator.trace(SENTENCE)
    labels = trace.labels("decoder_self")
    expect_map(page, "heads-map", trace.decoder_self[1, 1], labels)
    parts, selected = in_grid(page)
    assert selected == ["decoder_self", 1, 1]
    for kind in KINDS:
        there = np.array(parts[kind]) / 255
        assert np.allclose(there, trace.weights(kind).ravel(), atol=1 / 255)
    page.get_by_role("gridcell", name="decoder, layer 1, head 4").click()
    expect_map(page, "heads-map", trace.decoder_self[0, 3], labels)
    # a map of another kind takes the menu of kinds with it
    page.get_by_role("gridcell", name="encoder, layer 2, head 1").click()
    expect_map(page, "heads-map", trace.encoder_self[1, 0], trace.labels("encoder_self"))
    page.get_by_role("radio", name="decoder").click()
    page.get_by_role("gridcell", name="decoder, layer 1, head 4").click()
    expect_map(page, "heads-map", trace.decoder_self[0, 3], labels)
    # and the other way round: a menu moves the outline
    page.get_by_role("combobox", name="Head", exact=True).click()
    page.get_by_role("option", name="2", exact=True).click()
    expect_map(page, "heads-map", trace.decoder_self[0, 1], labels)
    until(page, lambda: in_grid(page)[1], ["decoder_self", 0, 1])


def test_the_kinds_have_their_colours(tab) -> None:
    page = tab("heads")
    for name, color in (
        ("encoder", "rgb(0, 158, 115)"),
        ("decoder", "rgb(0, 114, 178)"),
        ("cross", "rgb(213, 94, 0)"),
    ):
        dot = page.get_by_role("radio", name=name)
        assert dot.evaluate("e => getComputedStyle(e, '::before').backgroundColor") == color


def test_an_example_is_one_click_away(tab, translator: Translator) -> None:
    page = tab(text="The dog sings.")
    expect(german(page)).to_have_text(translator.translate("The dog sings.").text)
    page.get_by_role("button", name="Examples").click()
    page.get_by_text(EXAMPLES[2]).click()
    expect(page.get_by_label("English")).to_have_value(EXAMPLES[2])
    expect(german(page)).to_have_text(translator.translate(EXAMPLES[2]).text)
    until(page, lambda: url(page), {"text": EXAMPLES[2]})


def test_nothing_typed_is_html_or_markdown(tab, translator: Translator) -> None:
    page = tab()
    expect(german(page)).not_to_be_empty()
    page.get_by_label("English").fill(HOSTILE)
    trace = translator.trace(HOSTILE)
    layer = aligning_layer(translator)
    expect_map(page, "translate-map", trace.cross[layer].mean(0), trace.labels("cross"))
    notice = translator.translate(HOSTILE).notices[0]
    assert "“\u2068**" in notice
    expect(said(page)).to_contain_text(notice)
    made_of_it = ".katex, strong, em, a, h1, img, b, code"
    assert page.locator(".st-key-sentence-bar").locator(made_of_it).count() == 0
    for name in ("x", "a", "bold"):
        assert page.locator(f"b:text-is('{name}'), a:text-is('{name}')").count() == 0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The text is empty: type an English sentence."),
        ("    ", "The text is empty: type an English sentence."),
        ("word " * 10_000, "pieces, but this model takes at most 255: shorten it."),
    ],
)
def test_what_cannot_be_translated_gets_one_sentence(
    tab, translator: Translator, text: str, sentence: str
) -> None:
    page = tab("heads")
    page.locator(".st-key-heads-map .hl canvas").first.wait_for()
    page.get_by_label("English").fill(text)
    expect(page.locator(".st-key-problem")).to_contain_text(sentence)
    expect(page.locator(".st-key-heads-map")).to_have_count(0)  # no picture of another text
    assert len(page.evaluate("location.href")) < 10_000
    no_traceback(page)
    page.get_by_label("English").fill("The dog sings.")
    expect(german(page)).to_have_text(translator.translate("The dog sings.").text)
    until(page, lambda: url(page), {"text": "The dog sings."})
    page.reload()
    expect(page.get_by_label("English")).to_have_value("The dog sings.")


@pytest.mark.parametrize("text", ["🐶🎉", "مرحبا بالعالم", "a\x07b\x1b[31m c", "\u202eabc", "漢字"])
def test_unknown_characters_are_named_and_the_rest_works(
    tab, translator: Translator, text: str
) -> None:
    page = tab()
    expect(german(page)).not_to_be_empty()
    page.get_by_label("English").fill(text)
    trace = translator.trace(text)
    layer = aligning_layer(translator)
    expect_map(page, "translate-map", trace.cross[layer].mean(0), trace.labels("cross"))
    expect(said(page)).to_contain_text("has never seen")
    no_traceback(page)


def test_a_telephone_shows_it_all_without_scrolling_sideways(
    browser: Browser, address: str
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    for path, key in (("", "translate-map"), ("heads", "heads-map")):
        page.goto(f"{address}/{path}?{urlencode({'text': SENTENCE})}")
        page.locator(f".st-key-{key} .hl canvas").first.wait_for(timeout=PATIENCE)
        main = page.locator("[data-testid=stMain]")
        assert main.evaluate("e => e.scrollWidth") <= 390
        width = page.get_by_label("English").evaluate("e => e.getBoundingClientRect().width")
        assert width > 300
    page.close()


def test_without_a_checkpoint_one_sentence_and_the_pages_go_on(
    browser: Browser, serve_streamlit, tmp_path: Path
) -> None:
    page = browser.new_page()
    page.goto(serve_streamlit(APP, env={CHECKPOINT_VARIABLE: str(tmp_path / "none_*x*_")}))
    for name in ("Heads", "Translate"):
        expect(page.locator(".st-key-problem")).to_have_text(
            f"There is no checkpoint folder {tmp_path / 'none_*x*_'}.", timeout=PATIENCE
        )
        no_traceback(page)
        page.get_by_role("link", name=name).click()
        expect(page.get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
    page.close()


def test_the_bundled_model_knows_its_german(browser: Browser, serve_streamlit) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(serve_streamlit(APP, env={CHECKPOINT_VARIABLE: ""}))
    expect(german(page)).not_to_be_empty(timeout=PATIENCE)
    page.get_by_label("English").fill("Two dogs are running through the snow.")
    expect(german(page)).to_contain_text("Hunde", timeout=PATIENCE)
    keys = lambda: drawn(page, "translate-map")["keys"]  # noqa: E731
    until(page, lambda: {"Two", "dogs", "snow", "</s>"} <= set(keys()), True)
    assert "Hunde" in drawn(page, "translate-map")["queries"]
    page.close()


def test_a_link_to_the_heads_page_opens_every_choice(tab, translator: Translator) -> None:
    page = tab("heads", text=SENTENCE, kind="cross", layer="1", head="2")
    page.get_by_text("Words", exact=True).click()
    page.get_by_text("Special tokens", exact=True).click()
    page.get_by_role("combobox", name="Head", exact=True).click()
    page.get_by_role("option", name="mean", exact=True).click()
    axes, _ = without_special(by_words(translator.trace(SENTENCE), "cross"))
    wanted = {"text": SENTENCE, "layer": "1", "head": "mean", "words": "true", "special": "false"}
    for _ in range(2):
        expect_map(page, "heads-map", axes.weights[0].mean(0), axes.labels)
        until(page, lambda: {name: url(page).get(name) for name in wanted}, wanted)
        page.goto(page.evaluate("location.href"))  # as the person who is sent the link


def test_what_is_taken_away_is_what_is_on_the_screen(tab, translator: Translator) -> None:
    page = tab("heads", text=SENTENCE, kind="encoder", layer="2", head="3")
    trace = translator.trace(SENTENCE)
    expect_map(page, "heads-map", trace.encoder_self[1, 2], trace.labels("encoder_self"))
    page.get_by_role("button", name="Take away").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="This map as CSV").click()
    frame = pd.read_csv(download.value.path())
    np.testing.assert_array_equal(
        frame["weight"].to_numpy(np.float32), trace.encoder_self[1, 2].ravel()
    )
    with page.expect_download() as download:
        page.get_by_role("button", name="HTML report").click()
    assert trace.target in Path(download.value.path()).read_text("utf-8")


def test_the_steps_of_the_decoder_follow_the_slider(tab, translator: Translator) -> None:
    page = tab("heads", text=SENTENCE, kind="cross", view="step by step", step="2")
    trace = translator.trace(SENTENCE)
    queries, keys = trace.labels("cross")
    expect_map(page, "heads-map", trace.cross[-1, 0, :2], Labels(queries[:2], keys))
    page.get_by_role("slider").press("ArrowRight")
    expect_map(page, "heads-map", trace.cross[-1, 0, :3], Labels(queries[:3], keys))
