"""The masks page in a real browser: what is drawn, pointed at, chosen and linked."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.browser.app_page import (
    SENTENCE,
    address,
    no_traceback,
    saved_files,
    shared,
    tab,
    translator,
    until,
    url,
)
from tests.browser.still import SVG, number_of, plain, rgb, words_of
from tests.viz.trained_model import trained_folder
from transformer import Translator
from transformer.analysis import masking
from transformer.analysis.batch import TraceBatch, batch_traces
from viz.draw.labels import shown
from viz.draw.mask_grids import CODES
from viz.draw.palette import COLOR

__all__ = ["address", "shared", "tab", "trained_folder", "translator"]  # fixtures: used by name
pytestmark = pytest.mark.browser

MORE = ["Her horse waits.", "The baker sings in the garden."]
LINK = {"text": SENTENCE, "more": "\n".join(MORE)}

# of each square the colour beside its corner, and whether there is ink where only a slash, a dash
# and a backslash pass
SQUARES = """(canvas, [plan, rows, keys]) => {
    const ratio = canvas.width / parseFloat(canvas.style.width);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const at = (row, key, across, down) => {
        const x = Math.floor((plan.left + (key + across) * plan.square) * ratio);
        const y = Math.floor((plan.top + (row + down) * plan.square) * ratio);
        return [...data.slice(4 * (y * canvas.width + x)).slice(0, 4)];
    };
    return [...Array(rows).keys()].map((row) => [...Array(keys).keys()].map((key) => {
        const paper = at(row, key, 0.15, 0.2);
        const ink = [[0.6, 0.4], [0.38, 0.5], [0.4, 0.4]].map((place) =>
            at(row, key, ...place).some((value, n) => Math.abs(value - paper[n]) > 12));
        return [paper, ink];
    }));
}"""
INK = {
    (False, False, False): "seen",
    (True, False, False): "later",
    (False, True, False): "padding",
    (True, False, True): "both",
}


@pytest.fixture
def made(translator: Translator) -> TraceBatch:
    return batch_traces([translator.trace(text) for text in (SENTENCE, *MORE)])


def drawn(page) -> dict:
    return page.locator(".st-key-mask-grids .hl").evaluate("e => ({...e.__headlight})")


def whys(page) -> list[list[list[str]]]:
    return [
        [[CODES[int(code)] for code in row] for row in grid["why"]]
        for grid in drawn(page).get("grids", [])
    ]


def test_each_square_is_painted_as_its_mask_has_it(tab, made: TraceBatch) -> None:
    page = tab("masks", **LINK, kind="encoder", mask="both")
    why = masking.mask_reasons(made, "encoder_self", "both")
    until(page, lambda: whys(page), why.tolist())
    plan = drawn(page)["plan"]
    real = masking.real_queries(made, "encoder_self")
    seen = set()
    for n, canvas in enumerate(page.locator(".st-key-mask-grids .hl-mask canvas").all()):
        squares = canvas.evaluate(SQUARES, [plan, *why.shape[1:]])
        for (row, key), reason in np.ndenumerate(why[n]):
            paper, ink = squares[row][key]
            assert INK.get(tuple(ink)) == reason, (n, row, key)
            # rows of padding are the same, but faded
            assert (paper == [0, 158, 115, 255]) == (reason == "seen" and real[n, row])
            seen.add((reason, bool(real[n, row])))
    assert len(seen) >= 6


def test_a_control_changes_the_picture_and_the_link_keeps_it(tab, made: TraceBatch) -> None:
    page = tab("masks", **LINK, kind="decoder")
    until(page, lambda: whys(page), masking.mask_reasons(made, "decoder_self", "causal").tolist())
    page.get_by_role("radio", name="padding", exact=True).click()
    until(page, lambda: whys(page), masking.mask_reasons(made, "decoder_self", "padding").tolist())
    page.get_by_role("radio", name="cross").click()
    page.get_by_role("radio", name="numbers").click()
    expected = masking.mask_reasons(made, "cross", "padding").tolist()
    wanted = {"kind": "cross", "mask": "padding", "mask-as": "numbers"}
    for _ in range(2):
        until(page, lambda: (whys(page), drawn(page).get("numbers")), (expected, True))
        until(page, lambda: {name: url(page).get(name) for name in wanted}, wanted)
        page.goto(page.evaluate("location.href"))  # as the person who is sent the link
    no_traceback(page)


def test_a_click_on_a_row_and_enter_choose_it_and_say_it(tab, made: TraceBatch) -> None:
    page = tab("masks", **LINK, kind="decoder")
    until(page, lambda: whys(page), masking.mask_reasons(made, "decoder_self", "causal").tolist())
    plan = drawn(page)["plan"]
    canvas = page.locator(".st-key-mask-grids canvas").nth(1)
    x, y = (plan[side] + 2.5 * plan["square"] for side in ("left", "top"))
    canvas.click(position={"x": x, "y": y})
    until(page, lambda: drawn(page)["chosen"], [1, 2])
    until(page, lambda: (url(page).get("mask-sentence"), url(page).get("mask-row")), ("2", "3"))
    tokens = shown(made.decoder_tokens[1])
    words = page.locator(".st-key-mask-words")
    words.get_by_text(f"“\u2068{tokens[2]}\u2069” may see").wait_for()
    # the pointer's own sentence, and the keyboard's
    canvas.hover(position={"x": x + plan["square"], "y": y})
    tip = page.locator(".st-key-mask-grids .hl-tip")
    until(page, lambda: "it comes later." in tip.inner_text(), True)
    assert "−∞ is added" in tip.inner_text()
    frame = page.get_by_role("application", name=re.compile("Sentence 3"))
    frame.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        frame.press(key)
    until(page, lambda: drawn(page)["chosen"], [2, 3])


def test_saved_files_hold_every_square_of_every_sentence(
    tab, made: TraceBatch, tmp_path: Path
) -> None:
    page = tab("masks", **LINK, kind="decoder")
    why = masking.mask_reasons(made, "decoder_self", "causal")
    until(page, lambda: whys(page), why.tolist())
    saved = saved_files(page, "mask-grids", tmp_path)
    root = ET.parse(saved["SVG"]).getroot()
    side = drawn(page)["plan"]["square"] - 1
    rects = [node for node in root.iter(f"{SVG}rect") if number_of(node, "width") == side]
    # each grid's squares in the order in which they are painted, row after row
    seen = [node.get("fill") == COLOR["decoder_self"] for node in rects]
    assert seen == (why == "seen").ravel().tolist()
    words = words_of(root)
    for n, grid in enumerate(made.decoder_tokens):
        left, top = (number_of(rects[n * why[0].size], name) for name in ("x", "y"))
        beside = [w["text"] for w in words if 0 < left - w["x"] < 20 and w["y"] > top]
        assert beside[: len(grid)] == [plain(token) for token in shown(grid)]
    image = Image.open(saved["PNG"]).convert("RGB")
    assert image.size == (2 * number_of(root, "width"), 2 * number_of(root, "height"))
    x, y = (round(2 * number_of(rects[0], name) + 6) for name in ("x", "y"))
    assert image.getpixel((x, y)) == rgb(COLOR["decoder_self"])


def test_the_batch_follows_what_is_typed(tab, translator: Translator) -> None:
    page = tab("masks", text=SENTENCE, more="", kind="encoder")
    alone = batch_traces([translator.trace(SENTENCE)])
    until(page, lambda: whys(page), masking.mask_reasons(alone, "encoder_self", "padding").tolist())
    box = page.get_by_role("textbox", name="Further sentences of the batch, one on each line")
    box.fill("Her horse waits.")
    box.press("Control+Enter")
    both = batch_traces([translator.trace(text) for text in (SENTENCE, "Her horse waits.")])
    until(page, lambda: whys(page), masking.mask_reasons(both, "encoder_self", "padding").tolist())
    assert url(page)["more"] == "Her horse waits."


def test_on_a_narrow_screen_the_sentences_stand_below_each_other(tab) -> None:
    page = tab("masks", **LINK)
    page.locator(".st-key-mask-grids canvas").nth(2).wait_for()
    panels = page.locator(".st-key-mask-grids .hl-mask")
    try:
        for width, beside in ((1280, True), (390, False)):
            page.set_viewport_size({"width": width, "height": 900})
            until(
                page,
                lambda: panels.nth(0).bounding_box()["y"] == panels.nth(1).bounding_box()["y"],
                beside,
            )
            assert page.evaluate("document.body.scrollWidth") <= width
    finally:
        page.set_viewport_size({"width": 1280, "height": 900})


def test_without_the_mask_both_charts_are_drawn(tab) -> None:
    page = tab("masks", **LINK, kind="decoder", **{"mask-view": "take it away"})
    charts = page.locator("[data-testid=stVegaLiteChart] svg")
    charts.nth(1).wait_for()
    page.get_by_text("Loss on each next token of sentence 1").wait_for()
    page.get_by_role("radio", name="shift right").click()
    until(page, charts.count, 1)
    for token in ("reads", "writes"):
        charts.get_by_text(token, exact=True).first.wait_for()
    no_traceback(page)
