"""The masks page in a real browser: what is drawn, pointed at, chosen and linked."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.browser.app_page import SENTENCE, no_traceback, saved_files, until, url
from tests.browser.spy import plain
from tests.browser.still import SVG, number_of, rgb, words_of
from transformer import Kind, Translator
from transformer.analysis.paper import masking
from transformer.analysis.teacher_forcing import TraceBatch, batch_traces
from viz.draw.labels import display_tokens
from viz.draw.palette import COLOR

pytestmark = pytest.mark.browser

MORE = ["Her horse waits.", "The baker sings in the garden."]
LINK = {"text": SENTENCE, "more": "\n".join(MORE)}

# a grid as it is painted: where its squares stand by its words, of each square the colour beside
# its corner and whether there is ink where only a slash, a dash and a backslash pass, and which
# rows have a frame
GRID = """(canvas) => {
    const words = canvas.painted?.words ?? [];
    const lies = ({ start, end }) => Math.abs(start[1] - end[1]) < 0.1;
    const rows = words.filter(lies), columns = words.filter((word) => !lies(word));
    if (rows.length < 2) return { squares: [], framed: [] };
    const square = rows[1].y - rows[0].y;
    const [left, top] = [rows[0].x + 8, rows[0].y - 0.5 - square / 2];
    const ratio = canvas.width / parseFloat(canvas.style.width);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const at = (x, y) => {
        const first = 4 * (Math.floor(y * ratio) * canvas.width + Math.floor(x * ratio));
        return [...data.slice(first, first + 4)];
    };
    const squares = rows.map((_, row) => columns.map((_, key) => {
        const place = ([across, down]) => at(left + (key + across) * square,
            top + (row + down) * square);
        const paper = place([0.15, 0.2]);
        const ink = [[0.6, 0.4], [0.38, 0.5], [0.4, 0.4]].map((one) =>
            place(one).some((value, n) => Math.abs(value - paper[n]) > 12));
        return [paper, ink];
    }));
    const framed = [...rows.keys()].filter((row) => at(left - 1, top + (row + 0.5) * square)[3]);
    const texts = (found) => found.map(({ text }) => text);
    return { left, top, square, squares, framed, queries: texts(rows), keys: texts(columns) };
}"""
STROKES = {
    (False, False, False): "seen",
    (True, False, False): "later",
    (False, True, False): "padding",
    (True, False, True): "both",
}


@pytest.fixture
def made(translator: Translator) -> TraceBatch:
    return batch_traces([translator.trace(text) for text in (SENTENCE, *MORE)])


def grids(page) -> list[dict]:
    """What is painted of each sentence."""
    canvases = page.locator(".st-key-mask-grids .hl-mask canvas")
    found: list[dict] = canvases.evaluate_all(f"all => all.map({GRID})")
    return found


def whys(page) -> list[list[list[str | None]]]:
    """What each square looks like, drawn as a boolean."""
    return [
        [[STROKES.get(tuple(ink)) for _, ink in row] for row in grid["squares"]]
        for grid in grids(page)
    ]


def seen(page, kind: Kind) -> list[list[list[bool]]]:
    """Which squares have the colour of what may be seen."""
    color = [*rgb(COLOR[kind]), 255]
    return [
        [[paper == color for paper, _ in row] for row in grid["squares"]] for grid in grids(page)
    ]


def chosen(page) -> list[list[int]]:
    """Sentence and row of each frame around a row."""
    return [[n, row] for n, grid in enumerate(grids(page)) for row in grid["framed"]]


def test_each_square_is_painted_as_its_mask_has_it(visit, made: TraceBatch) -> None:
    page = visit("masks", **LINK, kind="encoder", mask="both")
    why = masking.mask_reasons(made, "encoder_self", "both")
    until(page, lambda: whys(page), why.tolist())
    real = masking.real_queries(made, "encoder_self")
    labels = masking.labels(made, "encoder_self")
    looks = set()
    for n, grid in enumerate(grids(page)):
        for axis, tokens in zip(("queries", "keys"), labels[n], strict=True):
            assert grid[axis] == [plain(token) for token in display_tokens(tokens)]
        for (row, key), reason in np.ndenumerate(why[n]):
            paper, _ = grid["squares"][row][key]
            # rows of padding are the same, but faded
            assert (paper == [0, 158, 115, 255]) == (reason == "seen" and real[n, row])
            looks.add((reason, bool(real[n, row])))
    assert len(looks) >= 6


def test_a_control_changes_the_picture_and_the_link_keeps_it(
    visit, made: TraceBatch, tmp_path: Path
) -> None:
    page = visit("masks", **LINK, kind="decoder")
    until(page, lambda: whys(page), masking.mask_reasons(made, "decoder_self", "causal").tolist())
    page.get_by_role("radio", name="padding", exact=True).click()
    until(page, lambda: whys(page), masking.mask_reasons(made, "decoder_self", "padding").tolist())
    page.get_by_role("radio", name="cross").click()
    page.get_by_role("radio", name="numbers").click()
    may_see = masking.mask_reasons(made, "cross", "padding") == "seen"
    real = masking.real_queries(made, "cross")  # other rows are fainter
    expected = (may_see & real[..., None]).tolist()
    wanted = {"kind": "cross", "mask": "padding", "mask-as": "numbers"}
    for linked in (False, True):
        if linked:  # as the person who is sent the link
            page.goto(page.evaluate("location.href"))
        until(page, lambda: seen(page, "cross"), expected)
        until(page, lambda: {name: url(page).get(name) for name in wanted}, wanted)
        page.locator(".st-key-mask-grids").get_by_text("−∞ is added: hidden").wait_for()
    root = ET.parse(saved_files(page, "mask-grids", tmp_path)["SVG"]).getroot()
    numbers = [word["text"] for word in words_of(root) if word["text"] in ("0", "−∞")]
    legend = ["0", "−∞"]
    assert numbers == ["0" if one else "−∞" for one in may_see.ravel()] + legend
    no_traceback(page)


def test_a_click_on_a_row_and_enter_choose_it_and_say_it(visit, made: TraceBatch) -> None:
    page = visit("masks", **LINK, kind="decoder")
    until(page, lambda: whys(page), masking.mask_reasons(made, "decoder_self", "causal").tolist())
    plan = grids(page)[1]
    canvas = page.locator(".st-key-mask-grids canvas").nth(1)
    x, y = plan["left"] + 2.5 * plan["square"], plan["top"] + 1.5 * plan["square"]
    canvas.click(position={"x": x, "y": y})
    until(page, lambda: chosen(page), [[1, 1]])
    until(page, lambda: (url(page).get("mask-sentence"), url(page).get("mask-row")), ("2", "2"))
    words = page.locator(".st-key-mask-words")
    written = display_tokens(made.target_tokens[1])[1]
    words.get_by_text(f"and writes “\u2068{written}\u2069” may see").wait_for()
    # the pointer's own sentence, and the keyboard's
    canvas.hover(position={"x": x + plan["square"], "y": y})
    tip = page.locator(".st-key-mask-grids .hl-tip")
    until(page, lambda: "it comes later." in tip.inner_text(), True)
    assert "−∞ is added" in tip.inner_text()
    frame = page.get_by_role("application", name=re.compile("Sentence 3"))
    frame.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        frame.press(key)
    until(page, lambda: chosen(page), [[2, 3]])


def test_saved_files_hold_every_square_of_every_sentence(
    visit, made: TraceBatch, tmp_path: Path
) -> None:
    page = visit("masks", **LINK, kind="decoder")
    why = masking.mask_reasons(made, "decoder_self", "causal")
    until(page, lambda: whys(page), why.tolist())
    saved = saved_files(page, "mask-grids", tmp_path)
    root = ET.parse(saved["SVG"]).getroot()
    side = grids(page)[0]["square"] - 1
    rects = [node for node in root.iter(f"{SVG}rect") if number_of(node, "width") == side]
    # each grid's squares in the order in which they are painted, row after row
    painted = [node.get("fill") == COLOR["decoder_self"] for node in rects]
    assert painted == (why == "seen").ravel().tolist()
    words = words_of(root)
    for n, grid in enumerate(made.decoder_tokens):
        left, top = (number_of(rects[n * why[0].size], name) for name in ("x", "y"))
        beside = [w["text"] for w in words if 0 < left - w["x"] < 20 and w["y"] > top]
        assert beside[: len(grid)] == [plain(token) for token in display_tokens(grid)]
    image = Image.open(saved["PNG"]).convert("RGB")
    assert image.size == (2 * number_of(root, "width"), 2 * number_of(root, "height"))
    x, y = (round(2 * number_of(rects[0], name) + 6) for name in ("x", "y"))
    assert image.getpixel((x, y)) == rgb(COLOR["decoder_self"])


def test_the_batch_follows_what_is_typed(visit, translator: Translator) -> None:
    page = visit("masks", text=SENTENCE, more="", kind="encoder")
    alone = batch_traces([translator.trace(SENTENCE)])
    until(page, lambda: whys(page), masking.mask_reasons(alone, "encoder_self", "padding").tolist())
    box = page.get_by_role("textbox", name="Further sentences of the batch, one on each line")
    box.fill("Her horse waits.")
    box.press("Control+Enter")
    both = batch_traces([translator.trace(text) for text in (SENTENCE, "Her horse waits.")])
    until(page, lambda: whys(page), masking.mask_reasons(both, "encoder_self", "padding").tolist())
    assert url(page)["more"] == "Her horse waits."


def test_on_a_narrow_screen_the_sentences_stand_below_each_other(visit) -> None:
    page = visit("masks", **LINK)
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


def test_without_the_mask_both_charts_are_drawn(visit) -> None:
    page = visit("masks", **LINK, kind="decoder", **{"mask-view": "take it away"})
    charts = page.locator("[data-testid=stVegaLiteChart] svg")
    charts.nth(1).wait_for()
    page.get_by_text("Loss on each next token of sentence 1").wait_for()
    page.get_by_role("radio", name="shift right").click()
    until(page, charts.count, 1)
    for token in ("reads", "writes"):
        charts.get_by_text(token, exact=True).first.wait_for()
    no_traceback(page)
