"""The pages of the paper in a real browser: masks, positions and architecture."""

import re

import numpy as np
import pytest

from tests.browser import spy
from tests.browser.app_page import (
    SENTENCE,
    expect_map,
    expect_url,
    painted,
    until,
    url,
)
from transformer import TransformerConfig
from transformer.analysis import teacher_forcing
from transformer.paper import masking
from transformer.paper.flow import flow
from transformer.text.languages import OURS
from viz.draw import palette
from viz.draw.labels import display_tokens
from viz.pages.architecture.boxes import model_boxes

pytestmark = pytest.mark.browser

MORE = ["Her horse waits.", "The baker sings in the garden."]
LINK = {"text": SENTENCE, "more": "\n".join(MORE)}
# of each sentence and row, the words of the table that say how much it may see
SEEN = """all => all.map((grid) =>
    [...grid.querySelectorAll("tbody tr")].map((row) => row.cells[1].textContent))"""


@pytest.fixture
def made(translator):
    return teacher_forcing.batch_traces([translator.trace(text) for text in (SENTENCE, *MORE)])


def expect_masks(page, made, kind, mask):
    """The grids come to be those of this mask."""
    why = masking.mask_reasons(made, kind, mask)
    keys = why.shape[2]
    wanted = [[f"{row} of {keys}" for row in grid] for grid in (why == "seen").sum(2).tolist()]
    panels = page.locator(".st-key-mask-grids .hl-mask")
    until(page, lambda: panels.evaluate_all(SEEN), wanted)


def test_a_row_is_chosen_by_pointer_and_keys_and_the_batch_is_typed(visit, made, translator):
    page = visit("masks", **LINK, kind="decoder", **{"mask-view": "who sees whom"})
    expect_masks(page, made, "decoder_self", "causal")
    canvas = page.locator(".st-key-mask-grids .hl-mask canvas").nth(1)
    words = canvas.evaluate("(canvas) => canvas.painted.words")
    rows = [word for word in words if abs(word["start"][1] - word["end"][1]) < 0.1]
    square = rows[1]["y"] - rows[0]["y"]
    x, y = rows[1]["x"] + 8 + 2.5 * square, rows[1]["y"]
    canvas.click(position={"x": x, "y": y})
    expect_url(page, **{"mask-sentence": "2", "mask-row": "2"})
    words = page.locator(".st-key-mask-words")
    written = display_tokens(made.target_tokens[1])[1]
    words.get_by_text(f"and predicts “\u2068{written}\u2069” may see").wait_for()
    canvas.hover(position={"x": x + square, "y": y})
    tip = page.locator(".st-key-mask-grids .hl-tip")
    until(page, lambda: "it comes later." in tip.inner_text(), True)
    assert "−∞ is added" in tip.inner_text()
    frame = page.get_by_role("application", name=re.compile("Sentence 3"))
    frame.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        frame.press(key)
    expect_url(page, **{"mask-sentence": "3", "mask-row": "4"})
    # on a phone the sentences stand below each other, and the batch follows what is typed
    panels = page.locator(".st-key-mask-grids .hl-mask")
    page.set_viewport_size({"width": 390, "height": 900})
    top = lambda n: panels.nth(n).bounding_box()["y"]  # noqa: E731
    until(page, lambda: top(0) < top(1), True)
    assert page.evaluate("document.body.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 900})
    until(page, lambda: top(0) == top(1), True)
    box = page.get_by_role("textbox", name="Further sentences of the batch, one per line")
    box.fill(MORE[0])
    box.press("Control+Enter")
    both = teacher_forcing.batch_traces([translator.trace(text) for text in (SENTENCE, MORE[0])])
    expect_masks(page, both, "decoder_self", "causal")
    assert url(page)["more"] == MORE[0]


def opened(page):
    """The boxes that the drawing outlines."""
    boxes = page.locator(".st-key-arch-drawing button.hl-box[aria-pressed=true]")
    names: list[str] = boxes.evaluate_all("all => all.map((e) => e.name)")
    return names


def heading(page, text):
    page.get_by_role("heading", name=text, exact=True).wait_for()


def strip(page):
    """Read the canvas of the open tensor."""
    return painted(page, "arch-tensor") or {"queries": [], "levels": np.zeros(0)}


def test_boxes_open_by_pointer_and_keys_and_lead_on(visit, translator):
    page = visit("architecture", text=SENTENCE, arch_layer="2")
    heading(page, "Self-attention of the encoder, layer 2")
    trace = translator.trace(SENTENCE)
    expect_map(page, "arch-map", trace.encoder_self[1].mean(0), trace.labels("encoder_self"))
    page.get_by_role("button", name="Linear:").click()
    heading(page, "Linear")
    tensors = flow(translator.model, trace)
    values = tensors.values["logits"]
    until(page, lambda: strip(page)["levels"].shape, values.shape)
    there = strip(page)
    assert there["queries"] == display_tokens(trace.target_tokens)
    assert there["table"] == ("difference", "light")
    assert np.abs(there["levels"] - palette.difference_levels(values).astype(int)).max() <= 1
    assert opened(page) == ["decoder.linear"]
    expect_url(page, arch_box="Linear")
    # keys move from box to box and over the values
    page.get_by_role("button", name="Self-attention of the encoder, layer 2:").first.focus()
    page.keyboard.press("ArrowUp")  # its Add & norm
    page.keyboard.press("ArrowRight")  # the decoder's, at the same height
    page.keyboard.press("Enter")
    heading(page, "Add & norm after masked self-attention of the decoder, layer 2")
    values = tensors.values["decoder.layers.1.self_attention_norm.hook_normalised"]
    until(page, lambda: strip(page)["levels"].shape, values.shape)
    page.locator(".st-key-arch-tensor .hl-scroll").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)  # the first one only begins
    name, number = spy.plain(page.locator(".st-key-arch-tensor .hl-tip").inner_text()).split(
        "feature 2"
    )
    assert name == f"“{display_tokens(trace.decoder_tokens)[1]}” · "
    assert float(number.replace("−", "-")) == pytest.approx(float(values[1, 1]), rel=1e-3)
    # a link leads to the heads of the layer
    page.get_by_role("button", name="Self-attention of the encoder, layer 2:").first.click()
    page.get_by_role("link", name="See every head of this layer →").click()
    labels = trace.labels("encoder_self")
    expect_map(page, "heads-map", trace.encoder_self[1, 0], labels)
    assert (url(page)["text"], url(page)["kind"]) == (SENTENCE, "encoder")


def lit(page):
    """The names of the lit boxes, and what the player says."""
    names: list[str] = page.locator(".hl-lit").evaluate_all("all => all.map((box) => box.name)")
    return names, spy.plain(page.locator(".hl-arch-says").inner_text())


def test_figure_1_plays_by_itself_until_a_reader_acts_and_steps_by_keys(shared, visit, translator):
    shared.emulate_media(reduced_motion="no-preference")
    page = visit("architecture", text=SENTENCE)
    order = [box.name for box in model_boxes(TransformerConfig.base(), OURS)]
    trace = translator.trace(SENTENCE)
    read = f"The sentence enters as {len(trace.source_tokens)} subwords"
    until(page, lambda: (lit(page)[0], read in lit(page)[1]), (order[:1], True))
    until(page, lambda: lit(page)[0], order[1:2])  # without a click
    formula = page.locator(".st-key-arch-side .katex").first
    until(page, formula.is_visible, False)  # it belongs to the open box, and not to the lit one
    says = page.locator(".hl-arch-says")
    assert says.get_attribute("aria-live") == "off"
    page.get_by_label("English", exact=True).click()
    assert says.get_attribute("aria-live") == "polite"
    stood = lit(page)
    page.wait_for_timeout(1600)
    assert lit(page) == stood
    until(page, formula.is_visible, True)
    # from the end back: the last softmax, with its five bars
    page.get_by_role("button", name="One box back").focus()
    page.keyboard.press("End")
    assert lit(page)[0] == []
    page.keyboard.press("ArrowLeft")
    assert lit(page)[0] == order[-1:]
    written = display_tokens(trace.target_tokens)
    bars = page.locator(".hl-arch-bars li")
    assert bars.count() == 5
    assert page.locator(".hl-arch-taken bdi").inner_text() == written[-1]
    page.keyboard.press("Space")  # plays to the end, where every box has all its rows
    until(page, lambda: lit(page)[0], [])
    page.keyboard.press("Home")
    for name in order[:3]:
        assert lit(page)[0] == [name]
        page.keyboard.press("ArrowRight")
    # a click opens a box, and the player stands there
    page.get_by_role("button", name="Linear:").click()
    heading(page, "Linear")
    assert lit(page)[0] == ["decoder.linear"]
    assert f"“{written[0]}”" in lit(page)[1]
    page.emulate_media(reduced_motion="reduce")


# the lower end of a heading's words, and the upper one of the buttons of the table below it
ENDS = """(table) => {
    const words = document.createRange();
    words.selectNodeContents([...document.querySelectorAll("h3")].at(-1));
    const button = table.querySelector("[data-testid=stElementToolbar] button");
    return [words.getBoundingClientRect().bottom, button.getBoundingClientRect().top];
}"""


def test_the_buttons_of_a_table_cover_no_heading(visit):
    page = visit("tables")
    table = page.locator(".stElementContainer:has(.stDataFrame)").last
    table.locator(".stDataFrame").hover()
    table.get_by_test_id("stElementToolbar").get_by_role("button").first.wait_for()
    page.wait_for_timeout(500)  # they slide up
    words, buttons = table.evaluate(ENDS)
    assert words <= buttons


def test_paths_play_in_the_browser_and_stand_still_where_no_motion_is_wanted(shared, visit):
    shared.emulate_media(reduced_motion="no-preference")
    page = visit("self_attention", text=SENTENCE)
    pictures = page.locator(".st-key-paths-picture")
    pictures.locator("img.moving").last.wait_for()
    before = pictures.screenshot()
    until(page, lambda: pictures.screenshot() != before, True)
    page.emulate_media(reduced_motion="reduce")
    pictures.locator("img.still").last.wait_for()
    assert pictures.locator("img.moving").first.is_hidden()
    stands = pictures.screenshot()
    page.wait_for_timeout(700)
    assert pictures.screenshot() == stands
