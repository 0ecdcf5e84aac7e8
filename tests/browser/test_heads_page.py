"""The heads page in a real browser: what is clicked, linked, compared and taken away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.browser.app_page import (
    SENTENCE,
    expect_grid,
    expect_map,
    outlined,
    painted,
    until,
    url,
)
from transformer import Translator
from transformer.analysis.axes import by_words, without_special
from transformer.trace import Labels

pytestmark = pytest.mark.browser


def test_the_grid_shows_every_head_and_the_menus_follow_it(visit, translator: Translator) -> None:
    page = visit("heads", text=SENTENCE, kind="decoder", layer="2", head="2")
    trace = translator.trace(SENTENCE)
    labels = trace.labels("decoder_self")
    expect_map(page, "heads-map", trace.decoder_self[1, 1], labels)
    assert outlined(page) == ["decoder, layer 2, head 2"]
    expect_grid(page, trace)
    page.get_by_role("gridcell", name="decoder, layer 1, head 4").click()
    expect_map(page, "heads-map", trace.decoder_self[0, 3], labels)
    # a map of another kind takes the menu of kinds with it
    page.get_by_role("gridcell", name="encoder, layer 2, head 1").click()
    expect_map(page, "heads-map", trace.encoder_self[1, 0], trace.labels("encoder_self"))
    assert map_table(page) == ("encoder_self", "light")
    page.get_by_role("radio", name="decoder").click()
    page.get_by_role("gridcell", name="decoder, layer 1, head 4").click()
    expect_map(page, "heads-map", trace.decoder_self[0, 3], labels)
    # and the other way round: a menu moves the outline
    page.get_by_role("combobox", name="Head", exact=True).click()
    page.get_by_role("option", name="2", exact=True).click()
    expect_map(page, "heads-map", trace.decoder_self[0, 1], labels)
    assert map_table(page) == ("decoder_self", "light")
    until(page, lambda: outlined(page), ["decoder, layer 1, head 2"])


def map_table(page) -> tuple[str, str] | None:
    """The kind and the theme whose colours the large map has."""
    found = painted(page, "heads-map")
    return found["table"] if found else None


def test_the_kinds_have_their_colours(visit) -> None:
    page = visit("heads")
    for name, color in (
        ("encoder", "rgb(0, 158, 115)"),
        ("decoder", "rgb(0, 114, 178)"),
        ("cross", "rgb(213, 94, 0)"),
    ):
        dot = page.get_by_role("radio", name=name)
        assert dot.evaluate("e => getComputedStyle(e, '::before').backgroundColor") == color


def test_a_link_to_the_heads_page_opens_every_choice(visit, translator: Translator) -> None:
    page = visit("heads", text=SENTENCE, kind="cross", layer="1", head="2")
    page.get_by_text("Words", exact=True).click()
    page.get_by_role("button", name="More").click()
    page.get_by_text("Special tokens", exact=True).click()
    page.keyboard.press("Escape")
    page.get_by_role("combobox", name="Head", exact=True).click()
    page.get_by_role("option", name="mean", exact=True).click()
    axes, _ = without_special(by_words(translator.trace(SENTENCE), "cross"))
    wanted = {"text": SENTENCE, "layer": "1", "head": "mean", "words": "true", "special": "false"}
    for linked in (False, True):
        if linked:  # as the person who is sent the link
            page.goto(page.evaluate("location.href"))
        expect_map(page, "heads-map", axes.weights[0].mean(0), axes.labels)
        until(page, lambda: {name: url(page).get(name) for name in wanted}, wanted)


def test_what_is_taken_away_is_what_is_on_the_screen(visit, translator: Translator) -> None:
    page = visit("heads", text=SENTENCE, kind="encoder", layer="2", head="3")
    trace = translator.trace(SENTENCE)
    expect_map(page, "heads-map", trace.encoder_self[1, 2], trace.labels("encoder_self"))
    page.get_by_role("button", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="This map as CSV").click()
    frame = pd.read_csv(download.value.path())
    np.testing.assert_array_equal(
        frame["weight"].to_numpy(np.float32), trace.encoder_self[1, 2].ravel()
    )
    with page.expect_download() as download:
        page.get_by_role("button", name="HTML report").click()
    assert trace.target in Path(download.value.path()).read_text("utf-8")


def test_the_steps_of_the_decoder_follow_the_slider(visit, translator: Translator) -> None:
    page = visit("heads", text=SENTENCE, kind="cross", view="step by step", step="2")
    trace = translator.trace(SENTENCE)
    queries, keys = trace.labels("cross")
    expect_map(page, "heads-map", trace.cross[-1, 0, :2], Labels(queries[:2], keys))
    page.get_by_role("slider").press("ArrowRight")
    expect_map(page, "heads-map", trace.cross[-1, 0, :3], Labels(queries[:3], keys))


def test_a_comparison_shows_both_maps_and_their_difference(visit, translator: Translator) -> None:
    link = {"text": SENTENCE, "view": "compare", "kind": "encoder", "layer": "2", "head": "3"}
    page = visit("heads", layer2="1", head2="mean", **link)
    trace = translator.trace(SENTENCE)
    labels = trace.labels("encoder_self")
    first, second = trace.encoder_self[1, 2], trace.encoder_self[0].mean(0)
    expect_map(page, "heads-first", first, labels)
    expect_map(page, "heads-second", second, labels)
    expect_map(page, "heads-difference", first - second, labels)
    # sentences of other tokens have no difference, and the page says so
    page = visit("heads", text2="The dog sings.", **link, **{"with": "another sentence"})
    other = translator.trace("The dog sings.")
    expect_map(page, "heads-second", other.encoder_self[1, 2], other.labels("encoder_self"))
    page.get_by_text("A difference needs the same tokens along both axes").wait_for()
    assert page.locator(".st-key-heads-difference").count() == 0


def test_sorted_heads_stand_in_their_order_and_open_what_they_show(
    visit, translator: Translator
) -> None:
    page = visit("heads", text=SENTENCE, sort="confidence", kinds="encoder")
    trace = translator.trace(SENTENCE)
    weights = trace.encoder_self[..., :-1]  # the end token aside
    sure = weights.max(-1).mean(-1)  # [layer, head]
    best = np.unravel_index(int(sure.argmax()), sure.shape)
    layer, head = best
    name = f"encoder, layer {layer + 1}, head {head + 1}"
    first = page.get_by_role("gridcell").first
    until(page, lambda: first.get_attribute("aria-label"), name)
    page.get_by_role("gridcell").first.click()
    expect_map(page, "heads-map", trace.encoder_self[best], trace.labels("encoder_self"))
