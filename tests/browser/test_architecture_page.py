"""The architecture page in a real browser: what is drawn, opened, linked and typed."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from tests.browser.app_page import SENTENCE, expect_map, german, painted, saved_files, until, url
from tests.browser.spy import levels, plain
from tests.browser.still import number_of, rgb, words_of
from transformer import Translator
from transformer.analysis.paper.flow import flow
from viz.draw.labels import display_tokens
from viz.draw.palette import COLOR, difference_levels, difference_table, largest_colour
from viz.pages.architecture.boxes import BOXES, BY_NAME

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

FEED_FORWARD = BY_NAME["decoder.feed_forward"]
OPEN = {"text": SENTENCE, "arch_layer": "2", "arch_box": FEED_FORWARD.heading}
# each box as its button says it and as it is painted: its place, the words in it, the pixels of the
# maps or of the strip, and the colour of its stripe
BOXES_ON_PAGE = """(root) => {
    const canvas = root.querySelector("canvas");
    const { words, pictures } = canvas.painted ?? { words: [], pictures: [] };
    const ratio = canvas.width / parseFloat(canvas.style.width);
    const pixel = (context, x, y) =>
        [...context.getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1).data];
    return [...root.querySelectorAll("button.hl-box")].map((node) => {
        const { offsetLeft: x, offsetTop: y, offsetWidth: width, offsetHeight: height } = node;
        const inside = ([left, top]) =>
            left >= x && left <= x + width && top >= y && top <= y + height;
        return {
            name: node.name, label: node.ariaLabel, x, y, width, height,
            words: words.filter((word) => inside([word.x, word.y])).map(({ text }) => text),
            maps: pictures.filter(({ from, to }) => inside(from) && inside(to)).map((one) => ({
                from: one.from, to: one.to, rows: one.raster.height, columns: one.raster.width,
                colors: [...one.raster.getContext("2d")
                    .getImageData(0, 0, one.raster.width, one.raster.height).data],
            })),
            stripe: pixel(canvas.getContext("2d"), x + width / 2, y + 2).slice(0, 3),
        };
    });
}"""
# what is on the canvas in the middle of each of rows × columns cells between two corners
PIXELS = """(root, [[left, top], [right, foot], rows, columns]) => {
    const canvas = root.querySelector("canvas");
    const ratio = canvas.width / parseFloat(canvas.style.width);
    const context = canvas.getContext("2d");
    return Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (_, column) => {
        const x = left + ((column + 0.5) / columns) * (right - left);
        const y = top + ((row + 0.5) / rows) * (foot - top);
        return [...context.getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1).data]
            .slice(0, 3);
    }));
}"""


def drawing(page) -> dict[str, dict[str, Any]]:
    """Each box of the drawing, by its name."""
    found = page.locator(".st-key-arch-drawing .hl").evaluate(BOXES_ON_PAGE)
    return {box["name"]: box for box in found}


def opened(page) -> list[str]:
    """The boxes that the drawing outlines."""
    boxes = page.locator(".st-key-arch-drawing button.hl-box[aria-pressed=true]")
    names: list[str] = boxes.evaluate_all("all => all.map((e) => e.name)")
    return names


def heading(page, text: str) -> None:
    page.get_by_role("heading", name=text, exact=True).wait_for()


def strip(page) -> dict[str, Any]:
    """What stands on the canvas of the open tensor."""
    return painted(page, "arch-tensor") or {"queries": [], "levels": np.zeros(0)}


def first_row(page, columns: int) -> list[str]:
    """What the arrow keys read out along the first row of the open tensor."""
    page.locator(".st-key-arch-tensor .hl-scroll").focus()
    read = []
    for _ in range(columns):
        page.keyboard.press("ArrowRight")  # the first one only begins
        read.append(plain(page.locator(".st-key-arch-tensor .hl-tip").inner_text()))
    page.keyboard.press("Tab")
    return read


def test_every_box_shows_the_tensor_that_flows_through_it(visit, translator: Translator) -> None:
    page = visit("architecture", **OPEN)
    heading(page, "Feed forward of the decoder, layer 2")
    found = flow(translator.model, translator.trace(SENTENCE))
    there = drawing(page)
    assert list(there) == [box.name for box in BOXES]
    assert opened(page) == ["decoder.feed_forward"]
    layer = page.locator(".st-key-arch-drawing canvas").evaluate(
        "canvas => canvas.painted.words.map(({ text }) => text)"
    )
    assert layer.count("2 × · layer 2 is drawn") == 2
    for box in BOXES:
        values = found.values.get(box.value.format(1))
        drawn = there[box.name]
        assert page.get_by_role("button", name=drawn["label"], exact=True).count() == 1
        title, shape = drawn["words"]
        assert title == box.title
        assert drawn["label"].endswith(f": {shape}")
        if values is None:
            assert not drawn["maps"]
            continue
        wanted = np.rint(255 * values) if box.kind else difference_levels(values)[None]
        assert [(one["rows"], one["columns"]) for one in drawn["maps"]] == [
            wanted.shape[1:] for _ in wanted
        ]
        for one, levels_wanted in zip(drawn["maps"], wanted, strict=True):
            there_now, table = levels(np.reshape(one["colors"], (*levels_wanted.shape, 4)))
            assert table == (box.kind or "difference", "light")
            np.testing.assert_allclose(there_now, levels_wanted, atol=1)
        if box.kind:
            assert tuple(drawn["stripe"]) == rgb(COLOR[box.kind])
    # on the canvas each value has its colour
    values = found.values["encoder.embedding.hook_positions"]
    (strip,) = there["encoder.positions"]["maps"]
    root = page.locator(".st-key-arch-drawing .hl")
    pixels = np.array(root.evaluate(PIXELS, [strip["from"], strip["to"], *values.shape]))
    colors = difference_table("light")[difference_levels(values)]
    assert np.abs(pixels.astype(int) - colors).max(-1).mean() < 6


def test_a_click_opens_a_box_and_the_link_opens_it_again(visit, translator: Translator) -> None:
    page = visit("architecture", text=SENTENCE, arch_layer="2")
    heading(page, "Self-attention of the encoder, layer 2")
    trace = translator.trace(SENTENCE)
    expect_map(page, "arch-map", trace.encoder_self[1].mean(0), trace.labels("encoder_self"))
    page.get_by_role("button", name="Linear:").click()
    heading(page, "Linear")
    found = flow(translator.model, trace)
    values = found.values["logits"]
    for linked in (False, True):
        if linked:  # as the person who is sent the link
            page.goto(page.evaluate("location.href"))
        until(page, lambda: strip(page)["levels"].shape, values.shape)
        there = strip(page)
        assert there["queries"] == display_tokens(trace.target_tokens)
        assert there["table"] == ("difference", "light")
        assert np.abs(there["levels"] - difference_levels(values).astype(int)).max() <= 1
        note = page.locator(".st-key-arch-tensor .hl-foot").inner_text()
        end = re.search(r"from ±([\d.]+) on the colour stays", note)
        assert end
        assert float(end[1]) == pytest.approx(largest_colour(values), rel=1e-3)
        assert opened(page) == ["decoder.linear"]
        until(page, lambda: url(page).get("arch_box"), "Linear")
    for said, name, value in zip(
        first_row(page, values.shape[1]), display_tokens(found.columns), values[0], strict=True
    ):
        words = f"“{display_tokens(trace.target_tokens)[0]}” · “{name}”"
        assert said.startswith(words)
        assert float(said.removeprefix(words).replace("−", "-")) == pytest.approx(value, 1e-3)


def test_saved_files_hold_every_box_with_its_values(
    visit, shared: Page, translator: Translator, tmp_path: Path
) -> None:
    # a screen that is high enough for strips of their full height
    shared.set_viewport_size({"width": 1280, "height": 1400})
    page = visit("architecture", **OPEN)
    heading(page, "Feed forward of the decoder, layer 2")
    saved = saved_files(page, "arch-drawing", tmp_path)
    shared.set_viewport_size({"width": 1280, "height": 900})
    assert saved["SVG"].name == "headlight-transformer-layer-2-of-2.svg"
    root = ET.parse(saved["SVG"]).getroot()
    words = words_of(root)
    there = drawing(page)
    found = flow(translator.model, translator.trace(SENTENCE))
    image = Image.open(saved["PNG"]).convert("RGB")
    assert image.size == (2 * number_of(root, "width"), 2 * number_of(root, "height"))
    pixels = np.array(image).astype(int)
    places = [
        (word["text"], word["x"] - 7, word["y"] - 18)
        for word in words
        if any(word["text"] == box.title for box in BOXES)
    ]
    assert [title for title, _, _ in places] == [box.title for box in BOXES]
    for box, (_, x, y) in zip(BOXES, places, strict=True):
        on_page = there[box.name]
        # the whole drawing is moved, and nothing in it
        assert (x - on_page["x"], y - on_page["y"]) == pytest.approx(
            (places[0][1] - there[BOXES[0].name]["x"],
             places[0][2] - there[BOXES[0].name]["y"]), abs=0.02,
        )  # fmt: skip
        values = found.values.get(box.value.format(1))
        if values is None or box.kind or values.shape[1] > 64:
            continue
        colors = difference_table("light")[difference_levels(values)]
        wide, top = (on_page["width"] - 14) / values.shape[1], y + 25
        for (row, column), _ in np.ndenumerate(values):
            at = x + 7 + (column + 0.5) * wide, top + (row + 0.5) * 20 / values.shape[0]
            seen = pixels[int(2 * at[1]), int(2 * at[0])]
            assert np.abs(seen - colors[row, column]).max() < 3, (box.name, row, column)


def test_keys_move_from_box_to_box_and_over_the_values(visit, translator: Translator) -> None:
    page = visit("architecture", text=SENTENCE, arch_box="Self-attention of the encoder")
    heading(page, "Self-attention of the encoder, layer 1")
    page.get_by_role("button", name="Self-attention of the encoder, layer 1:").first.focus()
    page.keyboard.press("ArrowUp")  # its Add & norm
    page.keyboard.press("ArrowRight")  # the decoder's, at the same height
    name = "e => { let f = document.activeElement; while (f.shadowRoot?.activeElement)"
    focused = page.evaluate(f"({name} f = f.shadowRoot.activeElement; return f.name; }})()")
    assert focused == "decoder.self_attention_norm"
    page.keyboard.press("Enter")
    heading(page, "Add & norm after masked self-attention of the decoder, layer 1")
    found = flow(translator.model, translator.trace(SENTENCE))
    values = found.values["decoder.layers.0.self_attention_norm.hook_normalised"]
    until(page, lambda: strip(page)["levels"].shape, values.shape)
    page.locator(".st-key-arch-tensor .hl-scroll").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)  # the first one only begins
    said = page.locator(".st-key-arch-tensor .hl-tip").inner_text().replace("−", "-")
    assert said.split("feature ")[1].split()[0].startswith("2")
    assert float(said.rpartition("feature 2")[2]) == pytest.approx(float(values[1, 1]), rel=1e-3)


def test_a_link_leads_to_the_heads_of_the_layer_with_the_sentence(
    visit, translator: Translator
) -> None:
    opened = "Self-attention of the encoder"
    page = visit("architecture", text=SENTENCE, arch_layer="1", arch_box=opened)
    heading(page, f"{opened}, layer 1")
    page.get_by_role("link", name="Heads: every head of this layer").click()
    trace = translator.trace(SENTENCE)
    labels = trace.labels("encoder_self")
    expect_map(page, "heads-map", trace.encoder_self[0, 0], labels)
    assert url(page)["text"] == SENTENCE
    assert (url(page)["kind"], url(page)["layer"]) == ("encoder", "1")


def test_the_drawing_follows_the_sentence(visit, translator: Translator) -> None:
    page = visit("architecture", **OPEN)
    heading(page, "Feed forward of the decoder, layer 2")
    text = "The dog sings."
    page.get_by_label("English", exact=True).fill(text)
    trace = translator.trace(text)
    german(page).get_by_text(trace.target, exact=True).wait_for()
    rows = len(trace.decoder_tokens)
    until(page, lambda: strip(page)["queries"], display_tokens(trace.decoder_tokens))
    shapes = {name: box["words"][1] for name, box in drawing(page).items()}
    assert shapes["decoder.feed_forward"] == f"{rows} × 32"
    assert shapes["decoder.cross_attention"] == f"4 × {rows} × {len(trace.source_tokens)}"


def test_a_preset_fills_the_fields_and_a_field_changes_the_count(visit) -> None:
    page = visit("architecture", text=SENTENCE, arch_view="parameters")
    page.get_by_text("63,045,632 by formula; 63,045,632 in the real modules").wait_for()
    page.get_by_test_id("stMenuButtonButton").filter(has_text="Presets").click()
    page.get_by_text("big", exact=True).last.click()
    page.get_by_text("214,171,648 by formula; 214,171,648 in the real modules").wait_for()
    layers = page.get_by_label("N", exact=True)
    assert layers.input_value() == "6"
    layers.fill("7")
    layers.press("Enter")
    count = 214_171_648 + 3 * 4 * 1024**2 + 2 * (2 * 1024 * 4096 + 4096 + 1024) + 5 * 2 * 1024
    page.get_by_text(f"{count:,} by formula; {count:,} in the real modules").wait_for()
    until(page, lambda: (url(page).get("arch_N"), url(page).get("arch_d_model")), ("7", "1024"))
    page.reload()
    page.get_by_text(f"{count:,} by formula; {count:,} in the real modules").wait_for()
